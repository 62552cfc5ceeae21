/* plot.h - pictures of results, drawn by the scripts beside this program where there is a Python with matplotlib. */
#ifndef GRADUS_PLOT_H
#define GRADUS_PLOT_H

/* Draws accuracy.svg and accuracy.png into the sweep's folder; says on stderr where they are, or how to get them. */
void plot_sweep(const char *folder);

/* The same without a word, also where it cannot be drawn. */
void plot_sweep_quietly(const char *folder);

/* landscape.svg and landscape.png into a landscape's folder, and says so. */
void plot_landscape(const char *folder);

#endif
