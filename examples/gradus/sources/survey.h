/* survey.h - what of a folder of class folders is passed over, told to who may have meant it. */
#ifndef GRADUS_SURVEY_H
#define GRADUS_SURVEY_H

/*
 * Tells on stderr of files of other kinds, of folders within class folders, of files beside these, of symbolic links
 * there that lead nowhere, and of class folders whose names differ in letter case alone.
 */
void survey_tell(const char *folder);

#endif
