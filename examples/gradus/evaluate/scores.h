/* scores.h - what answers to pictures of known class amount to. */
#ifndef GRADUS_SCORES_H
#define GRADUS_SCORES_H

#include <stdbool.h>
#include <stdint.h>

/* A picture that was answered wrongly. */
typedef struct {
    int64_t sample;
    int label, said;
    double probability; /* of what was said */
} mistake;

typedef struct {
    int classes;
    int64_t n, right;
    int64_t *counts; /* [classes, classes], row: the label, column: the answer */
    double accuracy, standard_error;
    double low, high; /* Wilson's 95 % interval (1927) of the rate that the accuracy is a sample of */
    int common;       /* the most frequent class */
    double common_share;
    mistake *mistakes; /* the most confident first */
    int64_t n_mistakes;
} scores;

/* The class of the largest of p[classes], the first of equals. */
int scores_answer(const double *p, int classes);

/* Of class i: its pictures, and how often it was answered. */
int64_t scores_labelled(const scores *s, int i);
int64_t scores_said(const scores *s, int i);

/* Fractions; NAN where there is nothing to divide by. */
double scores_recall(const scores *s, int i);
double scores_precision(const scores *s, int i);
double scores_f1(const scores *s, int i);

/*
 * From p[n, classes], probabilities, and the labels of n samples. False: no memory; scores_close is due all the same.
 */
bool scores_make(scores *s, const double *p, const int *labels, int64_t n, int classes);
void scores_close(scores *s);

#endif
