"""The networks of the tests as PyTorch and Keras have them, and pictures for them."""
import numpy as np


def pictures(n, height, width, seed=1):
    return np.random.default_rng(seed).standard_normal((n, height, width, 3)).astype(np.float32)


def stir(net, torch):
    """Running statistics and shifts away from 0 and 1, where mistakes would not show."""
    generator = torch.Generator().manual_seed(7)
    with torch.no_grad():
        for name, t in list(net.named_parameters()) + list(net.named_buffers()):
            if t.dim() == 1:
                t += 0.5 * torch.rand(t.shape, generator=generator)
    return net.eval()


def torch_cats_vs_dogs(torch, height, width):
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(3, 32, 3, padding="same"), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(),
                         nn.Linear(32 * (height // 2) * (width // 2), 128), nn.ReLU(), nn.Linear(128, 1))


def torch_normalised(torch, height, width):
    nn = torch.nn
    return nn.Sequential(nn.Conv2d(3, 4, 3, padding="same"), nn.BatchNorm2d(4), nn.ReLU(), nn.MaxPool2d(2),
                         nn.Flatten(), nn.Linear(4 * (height // 2) * (width // 2), 5), nn.ReLU(), nn.Linear(5, 3))


def torch_resnet18_cifar(torch, height, width):
    """Torchvision's names, written out: not every machine with PyTorch has torchvision."""
    nn = torch.nn

    class Block(nn.Module):
        def __init__(self, inputs, planes, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inputs, planes, 3, stride, 1, bias=False)
            self.bn1 = nn.BatchNorm2d(planes)
            self.conv2 = nn.Conv2d(planes, planes, 3, 1, 1, bias=False)
            self.bn2 = nn.BatchNorm2d(planes)
            self.downsample = None
            if stride > 1:
                self.downsample = nn.Sequential(nn.Conv2d(inputs, planes, 1, stride, bias=False),
                                                nn.BatchNorm2d(planes))

        def forward(self, x):
            y = self.bn2(self.conv2(torch.relu(self.bn1(self.conv1(x)))))
            return torch.relu(y + (self.downsample(x) if self.downsample else x))

    class ResNet(nn.Module):
        def __init__(self):
            super().__init__()
            self.conv1, self.bn1 = nn.Conv2d(3, 64, 3, 1, 1, bias=False), nn.BatchNorm2d(64)
            for i, planes in enumerate((64, 128, 256, 512)):
                first = Block(64 if i == 0 else planes // 2, planes, 1 if i == 0 else 2)
                setattr(self, f"layer{i + 1}", nn.Sequential(first, Block(planes, planes, 1)))
            self.fc = nn.Linear(512, 10)

        def forward(self, x):
            x = torch.relu(self.bn1(self.conv1(x)))
            x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
            return self.fc(x.mean((2, 3)))

    return ResNet()


def torch_answers(net, torch, x):
    with torch.no_grad():
        return net(torch.from_numpy(x).permute(0, 3, 1, 2).contiguous()).numpy()


def keras_cats_vs_dogs(keras, height, width):
    layers = keras.layers
    return keras.Sequential([layers.Input((height, width, 3)), layers.Conv2D(32, 3, padding="same", activation="relu"),
                             layers.MaxPooling2D(2), layers.Flatten(), layers.Dense(128, activation="relu"),
                             layers.Dense(1)])


def keras_normalised(keras, height, width):
    layers = keras.layers
    return keras.Sequential([layers.Input((height, width, 3)), layers.Conv2D(4, 3, padding="same"),
                             layers.BatchNormalization(epsilon=1e-5), layers.ReLU(), layers.MaxPooling2D(2),
                             layers.Flatten(), layers.Dense(5, activation="relu"), layers.Dense(3)])
