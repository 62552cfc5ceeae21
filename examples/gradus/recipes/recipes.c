/* recipes.c - the published experiments. */
#include "recipes/recipe.h"

#include "sources/format.h"

/* Networks whose number of classes is their own. */
static gr_module *cats_vs_dogs(gr_context *ctx, int classes)
{
    (void)classes;
    return gr_cats_vs_dogs_net(ctx);
}

static gr_module *cifar10_cnn(gr_context *ctx, int classes)
{
    (void)classes;
    return gr_cifar10_cnn(ctx);
}

static gr_module *keras_mlp(gr_context *ctx, int classes)
{
    (void)classes;
    return gr_keras_mlp(ctx);
}

static gr_module *mnist_mlp(gr_context *ctx, int classes)
{
    (void)classes;
    return gr_mnist_mlp(ctx);
}

/* examples/models/own-pictures.txt. */
static const char own_text[] = "conv 32 3x3 same no_bias kaiming_normal\n"
                               "batch_norm relu\n"
                               "pool 2\n"
                               "conv 64 3x3 same no_bias kaiming_normal\n"
                               "batch_norm relu\n"
                               "pool 2\n"
                               "conv 128 3x3 same no_bias kaiming_normal\n"
                               "batch_norm relu\n"
                               "global_avg_pool\n"
                               "dense classes\n";

static gr_module *own_pictures(gr_context *ctx, int classes)
{
    return gr_model_from_text(ctx, "own-pictures", own_text, classes);
}

/* examples/models/cifar10-normalised.txt. */
static const char normalised_text[] = "conv 32 3x3 no_bias\n"
                                      "batch_norm relu\n"
                                      "pool 2\n"
                                      "conv 64 3x3 no_bias\n"
                                      "batch_norm relu\n"
                                      "pool 2\n"
                                      "conv 64 3x3 no_bias\n"
                                      "batch_norm relu\n"
                                      "flatten\n"
                                      "dense 64 relu\n"
                                      "dense classes\n";

static gr_module *cifar10_normalised(gr_context *ctx, int classes)
{
    return gr_model_from_text(ctx, "cifar10-normalised", normalised_text, classes);
}

/* examples/models/cifar10-94.txt. */
#define BLOCK_OF(filters)                          \
    "conv " filters " 3 same no_bias dirac\n"      \
    "pool 2\n"                                     \
    "batch_norm epsilon 1e-12 momentum 0.4 gelu\n" \
    "conv " filters " 3 same no_bias dirac\n"      \
    "batch_norm epsilon 1e-12 momentum 0.4 gelu\n"
static const char cifar10_94_text[] =
    "conv 24 2 gelu\n" BLOCK_OF("64") BLOCK_OF("256") BLOCK_OF("256") "pool 3\n"
                                                                      "flatten\n"
                                                                      "dense classes no_bias kaiming_uniform\n"
                                                                      "scale 0.1111111111111111\n";

static gr_module *cifar10_94(gr_context *ctx, int classes)
{
    return gr_model_from_text(ctx, "cifar10-94", cifar10_94_text, classes);
}

/* What the recipes with this network tell alike. */
#define AIRBENCH_WORDS                                                                                              \
    "data       32x32x3, normalised by the training set's mean and deviation per channel; 50,000 pictures for "     \
    "training, 10,000 for the test",                                                                                \
        "augmented  mirrored in turn (--augment flip=alternate: by chance in the first epoch, then every other "    \
        "one) and moved by up to 2 pixels each way, edges reflected",                                               \
        "model      Conv 24 2x2 GELU, its filters whitening patches of training pictures and frozen (--whiten, "    \
        "--freeze) - three blocks of Conv 3x3, MaxPool 2, BatchNorm, GELU, Conv 3x3, BatchNorm, GELU with 64, 256 " \
        "and 256 channels - MaxPool 3 - Dense 10 - times 1/9; filters that begin by handing channels on (dirac); "  \
        "scales of BatchNorm stay 1 (--freeze)",                                                                    \
        "loss       softmax cross-entropy of the logits, labels smoothed by 0.2 (--label-smoothing)"
#define AIRBENCH_ODDITIES                                                                          \
    "Its 94.0 % are with six views of each test picture: mirrored, and moved by a pixel (--tta).", \
        "It takes the test set for validation: nothing may be chosen by these numbers."
/* clang-format off */
#define AIRBENCH_NET_OPTIONS \
    {"whiten", "conv1.weight"}, {"freeze", "conv1.weight,bn*.weight"}, {"freeze-after", "conv1.bias=3"}
#define AIRBENCH_SGD \
    {"sgd", 1.5, {{"momentum", 0.85}, {"nesterov", 1}, {"weight-decay", 0.0153 / 11.5}}, "bn*.bias=64"}
/* clang-format on */
const recipe recipes[] = {
    {
        .name = "cats-vs-dogs",
        .title = "cats against dogs from 1,200 photographs, with SGD and Adam",
        .source = "Lheureux, Paperspace blog",
        .format = &image_folder_format,
        .data = "PetImages",
        .download = "cats-vs-dogs",
        .height = 200,
        .width = 200,
        .split = {600, 200, 200},
        .procedural = {600, 200, 200},
        .published_augment = "double,resize=250,crop=200@0:0,filter=bicubic-resize",
        .classes = 2,
        .net = cats_vs_dogs,
        .optimizer = "sgd",
        .optimizers = {{.name = "sgd", .lr = 0.01}, {.name = "adam", .lr = 0.001}},
        .batch = 32,
        .epochs = 5,
        .last_batch = GR_DROP,
        .grid_batches = "16,32,64,128",
        .grid_optimizers = "sgd,adam",
        .words =
            {"data       200x200x3, nearest-neighbour resize, x/255; per class, in numeric file order, 600 pictures "
             "for training, 200 for validation, 200 for the test",
             "model      Conv 32 3x3 same ReLU - MaxPool 2 - Flatten - Dense 128 ReLU - Dense 1; he_uniform, the "
             "last layer glorot_uniform, zero biases",
             "loss       binary cross-entropy of the logit",
             "optimizer  SGD 0.01 without momentum (Keras' default) or Adam 0.001 (Keras' form, epsilon 1e-7)",
             "schedule   5 epochs, shuffled each epoch, the last short batch dropped",
             "augmented  (--augment published) training and validation pictures twice: as they are, and enlarged to "
             "250x250 (bicubic) and cut to their top left 200x200"},
        .oddities =
            {"The article's augmentation is one fixed copy of each picture, the same in every epoch, so its "
             "larger set also makes twice as many updates. --augment flip,rotate=15 and the like are drawn anew each "
             "epoch and add none.",
             "The article validates on its training set; its validation pictures are never looked at. Here they are "
             "kept apart and looked at after every epoch.",
             "It re-saves the resized pictures as JPEG before training. That second loss of detail is left out here.",
             "It takes the files in the order of its file system, which cannot be recovered. Here the order is "
             "numeric; --split-seed draws another one.",
             "It takes n // batch steps an epoch, so up to a batch less one of the pictures is unused in each epoch.",
             "The test set has 400 pictures: at 60 % its own standard error is 2.4 points. Differences below that "
             "say nothing, and the article reports one run of each."},
        .unequal_updates =
            "A larger batch means fewer updates: 375 at batch size 16, 45 at 128, in 5 epochs. What looks like an "
            "effect of the batch size is in part one of the number of updates; --updates makes them equal.",
    },
    {
        .name = "cifar10-cnn",
        .title = "the TensorFlow tutorial's convolutional network on CIFAR-10",
        .source = "TensorFlow tutorial \"Convolutional Neural Network\"",
        .format = &cifar10_format,
        .data = "CIFAR-10",
        .download = "cifar10",
        .height = 32,
        .width = 32,
        .procedural = {1000, 0, 200},
        .classes = 10,
        .net = cifar10_cnn,
        .optimizer = "adam",
        .optimizers = {{.name = "sgd", .lr = 0.01}, {.name = "adam", .lr = 0.001}},
        .batch = 32,
        .epochs = 10,
        .last_batch = GR_KEEP,
        .grid_batches = "16,32,64,128,256,512,1024",
        .grid_optimizers = "adam",
        .words =
            {"data       32x32x3, x/255; 50,000 pictures for training, 10,000 for the test, none for validation",
             "model      Conv 32 3x3 ReLU - MaxPool 2 - Conv 64 3x3 ReLU - MaxPool 2 - Conv 64 3x3 ReLU - Flatten - "
             "Dense 64 ReLU - Dense 10; valid padding, glorot_uniform, zero biases",
             "loss       softmax cross-entropy of the logits",
             "optimizer  Adam 0.001 (Keras' form, epsilon 1e-7), or SGD 0.01",
             "schedule   10 epochs, shuffled each epoch, the last short batch kept"},
        .oddities =
            {"The tutorial gives its test set as validation data and reports its last epoch: there is no third part, "
             "so nothing may be chosen by these numbers.",
             "The thesis whose accuracies are shown beside ours names neither its network nor its optimizer nor its "
             "learning rate: its values are context, not a target."},
        .unequal_updates = "A larger batch means fewer updates: 15,630 at batch size 32, 3,910 at 128, in 10 epochs.",
    },
    {
        .name = "cifar10-normalised",
        .title = "cifar10-cnn with batch normalisation",
        .source = "nobody: TensorFlow's tutorial has no batch normalisation",
        .format = &cifar10_format,
        .data = "CIFAR-10",
        .download = "cifar10",
        .height = 32,
        .width = 32,
        .procedural = {1000, 0, 200},
        .classes = 10,
        .net = cifar10_normalised,
        .optimizer = "adam",
        .optimizers = {{.name = "sgd", .lr = 0.01}, {.name = "adam", .lr = 0.001}},
        .batch = 32,
        .epochs = 10,
        .last_batch = GR_DROP,
        .grid_batches = "16,32,64,128",
        .grid_optimizers = "adam",
        .words =
            {"data       32x32x3, x/255; 50,000 pictures for training, 10,000 for the test, none for validation",
             "model      Conv 32 3x3 - MaxPool 2 - Conv 64 3x3 - MaxPool 2 - Conv 64 3x3 - Flatten - Dense 64 ReLU "
             "- Dense 10, each convolution without a bias and with batch normalisation and ReLU behind it",
             "loss       softmax cross-entropy of the logits",
             "optimizer  Adam 0.001 (Keras' form, epsilon 1e-7), or SGD 0.01",
             "schedule   10 epochs, shuffled each epoch, the last short batch dropped"},
        .oddities = {"It is for questions about batch normalisation, as 'gradus reproduce batch-norm' asks them: "
                     "small enough for many runs."},
        .unequal_updates = "A larger batch means fewer updates: 15,620 at batch size 32, 3,900 at 128, in 10 epochs.",
    },
    {
        .name = "cifar10-94",
        .title = "CIFAR-10 to 94 % in ten epochs: the airbench94 network",
        .source = "Jordan 2024, \"94% on CIFAR-10 in 3.29 seconds on a single GPU\", arXiv:2404.00498",
        .format = &cifar10_format,
        .data = "CIFAR-10",
        .download = "cifar10",
        .height = 32,
        .width = 32,
        .normalise = {.mean = {0.4914f, 0.4822f, 0.4465f}, .std = {0.2470f, 0.2435f, 0.2616f}},
        .procedural = {1000, 0, 200},
        .augment = "flip=alternate,translate=2,fill=reflect",
        .classes = 10,
        .net = cifar10_94,
        .optimizer = "sgd",
        .optimizers = {AIRBENCH_SGD, {.name = "adam", .lr = 0.001}},
        .lr_schedule = GR_LINEAR,
        .options = {{"label-smoothing", "0.2"},
                    {"tta", "flip,shift=1"},
                    {"target-accuracy", "94"},
                    {"warm-up", "2.3"},
                    {"warm-up-from", "0.2"},
                    {"lr-min", "0.105"},
                    {"lookahead", "5:0.7737809375:grows"}},
        .net_options = {AIRBENCH_NET_OPTIONS},
        .batch = 1024,
        .epochs = 10,
        .last_batch = GR_DROP,
        .grid_batches = "256,512,1024,2048",
        .grid_optimizers = "sgd",
        .words =
            {AIRBENCH_WORDS,
             "optimizer  SGD 1.5, Nesterov's momentum 0.85, weight decay 0.00133; biases of BatchNorm at 64 times the "
             "rate (--lr-scale). The publication's 11.5, divided by 1 + 1 / (1 - 0.85)",
             "schedule   10 epochs, batch size 1024, shuffled, the last short batch dropped; the rate from 0.2 of it "
             "up in 2.3 epochs, then down to 0.07 of it in a straight line; the first layer's bias stays as it is "
             "behind 3 epochs (--freeze-after); behind every fifth update the weights return to slow copies, which "
             "keep 0.95^5 of themselves times the cube of the share of the run that is done (--lookahead)"},
        .oddities = {"The publication trains for 9.9 epochs, 476 updates; here it is 10, 480 updates.",
                     AIRBENCH_ODDITIES},
        .unequal_updates = "A larger batch means fewer updates: 1,950 at batch size 256, 480 at 1024, in 10 epochs.",
    },
    {
        .name = "cifar10-94-muon",
        .title = "CIFAR-10 to 94 % in eight epochs, with Muon",
        .source = "Jordan 2024, airbench94_muon.py of github.com/KellerJordan/cifar10-airbench",
        .format = &cifar10_format,
        .data = "CIFAR-10",
        .download = "cifar10",
        .height = 32,
        .width = 32,
        .normalise = {.mean = {0.4914f, 0.4822f, 0.4465f}, .std = {0.2470f, 0.2435f, 0.2616f}},
        .procedural = {1000, 0, 200},
        .augment = "flip=alternate,translate=2,fill=reflect",
        .classes = 10,
        .net = cifar10_94,
        .optimizer = "muon",
        .optimizers = {AIRBENCH_SGD,
                       {.name = "adam", .lr = 0.001},
                       {"muon",
                        0.24,
                        {{"momentum", 0.6},
                         {"rest-momentum", 0.85},
                         {"weight-decay", 0.004 / 0.24},
                         {"muon-steps", 3},
                         {"muon-normalise", 1}},
                        "conv1.bias,bn*.bias=442;dense1.weight=6.9"}},
        .lr_schedule = GR_LINEAR,
        .options = {{"label-smoothing", "0.2"}, {"tta", "flip,shift=1"}, {"target-accuracy", "94"}, {"lr-min", "0"}},
        .net_options = {AIRBENCH_NET_OPTIONS},
        .batch = 2000,
        .epochs = 8,
        .last_batch = GR_DROP,
        .grid_batches = "500,1000,2000",
        .grid_optimizers = "muon",
        .words =
            {AIRBENCH_WORDS,
             "optimizer  Muon 0.24 for filters: momentum 0.6, three steps of the iteration, each matrix brought to "
             "the norm sqrt(filters) before its step; for all others SGD, Nesterov's momentum 0.85: weights of the "
             "last layer at 1.66, biases at 106 (--lr-scale); weight decay 0.004 an update",
             "schedule   8 epochs, batch size 2000, shuffled; the rate falls to 0 in a straight line; the first "
             "layer's bias stays as it is behind 3 epochs (--freeze-after)"},
        .oddities =
            {"The publication sums losses over the batch and divides logits by 256, with weights of the last layer of "
             "deviation 1; here losses are means and logits are divided by 9: 0.67 (9 / 256)^2 2000 = 1.66 and "
             "0.053 * 2000 = 106 are the same rates.",
             "Its first layer's bias has a rate of its own, which falls to 0 within the 3 epochs; here it is the "
             "biases'.",
             AIRBENCH_ODDITIES},
        .unequal_updates = "A larger batch means fewer updates: 800 at batch size 500, 200 at 2000, in 8 epochs.",
    },
    {
        .name = "keras-mlp",
        .title = "a small dense network on a table of two classes",
        .source = "deeplizard, \"Batch Size in a Neural Network explained\"",
        .format = &table_format,
        .data = "two-arcs",
        .height = 1,
        .width = 2,
        .split = {500, 100, 500},
        .procedural = {500, 100, 500},
        .classes = 2,
        .net = keras_mlp,
        .optimizer = "adam",
        .optimizers = {{.name = "sgd", .lr = 0.01}, {.name = "adam", .lr = 0.001}},
        .batch = 10,
        .epochs = 20,
        .last_batch = GR_KEEP,
        .grid_batches = "1,10,20,50,100",
        .grid_optimizers = "adam",
        .words =
            {"data       built in, drawn by formula: rows of 2 features, points on two noisy arcs that reach into each "
             "other; per class 500 rows for training, 100 for validation, 500 for the test. The best possible rule "
             "is right on about 96 %, the best straight line on about 88 %",
             "model      Dense 16 ReLU - Dense 32 ReLU, L2 0.01 - Dense 2; glorot_uniform, zero biases",
             "loss       softmax cross-entropy of the 2 logits, plus 0.01 times the sum of the squares of the "
             "weights of the layer of 32 (Keras' l2)",
             "optimizer  Adam 0.001 (Keras' form, epsilon 1e-7), or SGD 0.01",
             "schedule   20 epochs, shuffled each epoch, batch size 10, the last short batch kept"},
        .oddities =
            {"The publication gives neither data nor loss nor optimizer: all three are ours, and its numbers cannot be "
             "compared.",
             "It puts a sigmoid on each of the 2 outputs. A row has exactly one class, so ours compares the logits "
             "by softmax; which of the two is larger, and so the accuracy, is the same as with sigmoids.",
             "The L2 penalty is part of every loss that is told, of validation and test too, as in Keras."},
    },
    {
        .name = "mnist-mlp",
        .title = "one hidden layer on MNIST's digits",
        .source = "TensorFlow \"quickstart for beginners\"",
        .format = &idx_format,
        .data = "MNIST",
        .height = 28,
        .width = 28,
        .procedural = {1000, 0, 200},
        .classes = 10,
        .net = mnist_mlp,
        .optimizer = "adam",
        .optimizers = {{.name = "sgd", .lr = 0.01}, {.name = "adam", .lr = 0.001}},
        .batch = 32,
        .epochs = 5,
        .last_batch = GR_KEEP,
        .grid_batches = "16,32,64,128,256,512,1024",
        .grid_optimizers = "adam",
        .words = {"data       28x28x1, x/255; 60,000 pictures for training, 10,000 for the test, none for validation",
                  "model      Flatten - Dense 128 ReLU - Dense 10; glorot_uniform, zero biases",
                  "loss       softmax cross-entropy of the logits",
                  "optimizer  Adam 0.001 (Keras' form, epsilon 1e-7), or SGD 0.01",
                  "schedule   5 epochs, shuffled each epoch, the last short batch kept"},
        .oddities =
            {"The quickstart drops out 20 % of the hidden units while it trains. Here nothing is dropped, so that this "
             "recipe and fashion-mlp differ in their data alone."},
        .unequal_updates = "A larger batch means fewer updates: 9,375 at batch size 32, 2,345 at 128, in 5 epochs.",
    },
    {
        .name = "fashion-mlp",
        .title = "the TensorFlow tutorial's dense network on Fashion-MNIST",
        .source = "TensorFlow tutorial \"Basic classification\"",
        .format = &idx_format,
        .data = "FashionMNIST",
        .height = 28,
        .width = 28,
        .procedural = {1000, 0, 200},
        .classes = 10,
        .net = mnist_mlp,
        .optimizer = "adam",
        .optimizers = {{.name = "sgd", .lr = 0.01}, {.name = "adam", .lr = 0.001}},
        .batch = 32,
        .epochs = 5,
        .last_batch = GR_KEEP,
        .grid_batches = "16,32,64,128,256,512,1024",
        .grid_optimizers = "adam",
        .words = {"data       28x28x1, x/255; 60,000 pictures for training, 10,000 for the test, none for validation",
                  "model      Flatten - Dense 128 ReLU - Dense 10; glorot_uniform, zero biases",
                  "loss       softmax cross-entropy of the logits",
                  "optimizer  Adam 0.001 (Keras' form, epsilon 1e-7), or SGD 0.01",
                  "schedule   5 epochs, shuffled each epoch, the last short batch kept"},
        .oddities =
            {"The tutorial trains for 10 epochs. Here it is 5, as for mnist-mlp; --epochs 10 is the tutorial's."},
        .unequal_updates = "A larger batch means fewer updates: 9,375 at batch size 32, 2,345 at 128, in 5 epochs.",
    },
    {
        .name = "resnet18-cifar",
        .title = "ResNet-18 for 32x32 pictures on CIFAR-10",
        .source =
            "He, Zhang, Ren, Sun, \"Deep residual learning for image recognition\"; the stem and rates are custom",
        .format = &cifar10_format,
        .data = "CIFAR-10",
        .download = "cifar10",
        .height = 32,
        .width = 32,
        .normalise = {.mean = {0.4914f, 0.4822f, 0.4465f}, .std = {0.2470f, 0.2435f, 0.2616f}},
        .procedural = {1000, 0, 200},
        .augment = "translate=4,flip",
        .classes = 10,
        .net = gr_resnet18_cifar,
        .optimizer = "sgd",
        .optimizers = {{.name = "sgd",
                        .lr = 0.1,
                        .numbers = {{"momentum", 0.9}, {"nesterov", 1}, {"weight-decay", 5e-4}}},
                       {.name = "adam", .lr = 0.001}},
        .lr_schedule = GR_COSINE,
        .batch = 128,
        .epochs = 30,
        .last_batch = GR_KEEP,
        .grid_batches = "32,128,512",
        .grid_optimizers = "sgd",
        .words =
            {"data       32x32x3, normalised by the training set's mean and deviation per channel; 50,000 pictures for "
             "training, 10,000 for the test",
             "augmented  each training picture padded by 4 black pixels, cropped anywhere, mirrored every other time "
             "(--augment none: as it is)",
             "model      ResNet-18 with a 3x3 stem and no max-pool; Kaiming-normal filters, batch normalisation with "
             "momentum 0.1",
             "loss       softmax cross-entropy of the logits",
             "optimizer  SGD 0.1, momentum 0.9 (Nesterov), weight decay 5e-4 on all parameters, cosine to 0",
             "schedule   30 epochs, batch size 128, shuffled each epoch, the last short batch kept"},
        .oddities =
            {"The paper's own CIFAR networks are other ones (ResNet-20 to 110); this is the ImageNet network with its "
             "first layer made for small pictures, as it is commonly trained."},
    },
    {
        .name = "resnet18-article",
        .title = "ResNet-18 on CIFAR-10 as the PyTorch profiler's tutorial has it",
        .source = "PyTorch tutorial \"PyTorch Profiler With TensorBoard\" and an article after it",
        .format = &cifar10_format,
        .data = "CIFAR-10",
        .download = "cifar10",
        .height = 32,
        .width = 32,
        .normalise = {.mean = {0.5f, 0.5f, 0.5f}, .std = {0.5f, 0.5f, 0.5f}},
        .procedural = {1000, 0, 200},
        .classes = 10,
        .net = gr_resnet18,
        .optimizer = "sgd",
        .optimizers = {{.name = "sgd", .lr = 0.001, .numbers = {{"momentum", 0.9}}}, {.name = "adam", .lr = 0.001}},
        .batch = 32,
        .epochs = 1,
        .last_batch = GR_KEEP,
        .grid_batches = "4,16,32,64",
        .grid_optimizers = "sgd",
        .words = {"data       32x32x3, (x/255 - 0.5) / 0.5; --resize 224 for the size that the tutorial resizes to",
                  "model      torchvision's ResNet-18: 7x7 stem with stride 2, 3x3 max-pool with stride 2; 10 outputs",
                  "loss       softmax cross-entropy of the logits", "optimizer  SGD 0.001, momentum 0.9",
                  "schedule   1 epoch, shuffled, the last short batch kept"},
        .oddities =
            {"The article prints batch size 1. At 32x32 the last layers then see one value per channel, of which "
             "batch normalisation has no variance: refused by name. It runs at --resize 224; copies of the article "
             "use 32.",
             "The tutorial starts from weights trained on ImageNet; here they are drawn. --init-weights takes "
             "torchvision's.",
             "The tutorial resizes by bilinear interpolation; --resize takes the nearest neighbour.",
             "It has 1000 outputs of which 10 are used; here there are 10."},
    },
    {
        .name = "own-pictures",
        .title = "pictures of your own: any folder of class folders",
        .source = "nobody: it is no publication",
        .format = &own_folder_format,
        .data = "own pictures",
        .height = 64,
        .width = 64,
        .normalise = {.mean = {0.5f, 0.5f, 0.5f}, .std = {0.5f, 0.5f, 0.5f}},
        .procedural = {70, 10, 20},
        .net = own_pictures,
        .optimizer = "adam",
        .optimizers = {{.name = "sgd", .lr = 0.01, .numbers = {{"momentum", 0.9}}}, {.name = "adam", .lr = 0.001}},
        .batch = 16,
        .epochs = 20,
        .last_batch = GR_WRAP,
        .grid_batches = "8,16,32,64",
        .grid_optimizers = "adam",
        .words = {"data       --data FOLDER, a folder of pictures for each class, at least two; resized to 64x64 "
                  "(--resize), (x/255 - 0.5) / 0.5. Of each class 20 % for the test, 10 % for validation "
                  "(--test-share, --val-share), drawn by --split-seed 1; or the folders train, val and test in FOLDER",
                  "model      Conv 32, 64, 128, 3x3 same, each with batch normalisation and ReLU, the first two with "
                  "MaxPool 2 - GlobalAveragePool - Dense, a unit a class; kaiming_normal (--model: your own)",
                  "loss       softmax cross-entropy of the logits",
                  "optimizer  Adam 0.001 (Keras' form), or SGD 0.01, "
                  "momentum 0.9",
                  "schedule   20 epochs, batch size 16, shuffled, the last batch filled from the epoch's start"},
        .oddities =
            {"Nobody has published numbers for your pictures. A rough yardstick is the share of the most "
             "frequent class: 'gradus evaluate' tells it beside the accuracy.",
             "Without a folder test of its own the test part is drawn from the same pictures. Those of one series "
             "that are nearly alike fall into both parts and flatter the network; a test folder of other days "
             "does not."},
    },
    {0},
};
