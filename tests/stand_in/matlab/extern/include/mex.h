/* The part of MATLAB's mex.h that this project needs, in our own words; see matrix.h. */
#ifndef mex_h
#define mex_h

#include "matrix.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Exports of a MEX file: its entry, and the interface it was built for. */
void mexFunction(int nlhs, mxArray *plhs[], int nrhs, const mxArray *prhs[]);
void mexfilerequiredapiversion(unsigned int *built_by_release, unsigned int *target_api_version);

/* Functions that a MEX file may call. */
void mexErrMsgIdAndTxt(const char *id, const char *format, ...);
void mexWarnMsgIdAndTxt(const char *id, const char *format, ...);
int mexPrintf(const char *format, ...);
int mexEvalString(const char *code);
int mexCallMATLAB(int nlhs, mxArray *plhs[], int nrhs, mxArray *prhs[], const char *name);
mxArray *mexCallMATLABWithTrap(int nlhs, mxArray *plhs[], int nrhs, mxArray *prhs[], const char *name);
int mexAtExit(void (*exit_function)(void));
const char *mexFunctionName(void);

#ifdef __cplusplus
}
#endif

#endif
