/*
 * places.h - places in the space of a network's weights: sums of terms, each with a factor. Terms are weights that were
 * taken from the network, or random directions. Running statistics of batch normalisation are summed up as weights are;
 * a variance that would come out below 0 is 0.
 */
#ifndef GRADUS_PLACES_H
#define GRADUS_PLACES_H

#include "gradus.h"

enum { MOST_TERMS = 3 };

typedef struct {
    gr_module *net;
    int states; /* parameters, then running statistics */
    int n;
    double **terms[MOST_TERMS]; /* [n][states][elements of the state] */
} places;

/* A network that is built. */
void places_open(places *p, gr_module *net);
void places_close(places *p);

/* Takes what the network holds now as the next term. False: the context tells, or no memory. */
bool places_take(places *p);

/*
 * Draws the next term: normal numbers by the seed, each filter of a convolution and each unit's weights of a dense
 * layer scaled to the norm that they have in the first term; 0 for biases, batch normalisation and statistics (Li, Xu,
 * Taylor, Studer, Goldstein 2018, "Visualizing the loss landscape of neural nets", section 4). False: no memory.
 */
bool places_draw(places *p, uint64_t seed);

/* Puts the network at the sum of all terms times factors[n]. Where one is 1 and the others 0 it is that term's bits. */
bool places_go(const places *p, const double *factors);

#endif
