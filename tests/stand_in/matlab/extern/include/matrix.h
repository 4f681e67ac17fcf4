/* The part of MATLAB's matrix.h that this project needs, in our own words: the separate-complex interface
 * (API 700) on Linux x86-64. The build reads it where MATLAB_ROOT points here, and the stand-in for MATLAB is compiled
 * against it, so that the two agree. */
#ifndef matrix_h
#define matrix_h

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#if defined(MATLAB_MEXCMD_RELEASE) && MATLAB_MEXCMD_RELEASE != 700
#error "the stand-in has the separate-complex interface only (API 700)"
#endif

#define TARGET_API_VERSION 700
#define MX_TARGET_API_VER 0x07300000

/* Indices grew from 32 to 64 bits in MATLAB 7.3, and the bare names stayed with the 32-bit functions. A header's macro,
 * not the linker, leads a program to the 64-bit one: a look-up of symbols by name has to do the same. */
#define mxCreateCellArray mxCreateCellArray_730
#define mxCreateCellMatrix mxCreateCellMatrix_730
#define mxCreateCharArray mxCreateCharArray_730
#define mxCreateDoubleMatrix mxCreateDoubleMatrix_730
#define mxCreateLogicalArray mxCreateLogicalArray_730
#define mxCreateLogicalMatrix mxCreateLogicalMatrix_730
#define mxCreateNumericArray mxCreateNumericArray_730
#define mxCreateNumericMatrix mxCreateNumericMatrix_730
#define mxCreateStructArray mxCreateStructArray_730
#define mxCreateStructMatrix mxCreateStructMatrix_730
#define mxGetCell mxGetCell_730
#define mxGetDimensions mxGetDimensions_730
#define mxGetField mxGetField_730
#define mxGetFieldByNumber mxGetFieldByNumber_730
#define mxGetNumberOfDimensions mxGetNumberOfDimensions_730
#define mxGetProperty mxGetProperty_730
#define mxGetString mxGetString_730
#define mxSetCell mxSetCell_730
#define mxSetField mxSetField_730
#define mxSetFieldByNumber mxSetFieldByNumber_730

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mxArray_tag mxArray;
typedef size_t mwSize;
typedef size_t mwIndex;
typedef bool mxLogical;
#ifdef __cplusplus
typedef char16_t mxChar;
#else
typedef uint16_t mxChar;
#endif

typedef enum {
    mxUNKNOWN_CLASS = 0,
    mxCELL_CLASS,
    mxSTRUCT_CLASS,
    mxLOGICAL_CLASS,
    mxCHAR_CLASS,
    mxVOID_CLASS,
    mxDOUBLE_CLASS,
    mxSINGLE_CLASS,
    mxINT8_CLASS,
    mxUINT8_CLASS,
    mxINT16_CLASS,
    mxUINT16_CLASS,
    mxINT32_CLASS,
    mxUINT32_CLASS,
    mxINT64_CLASS,
    mxUINT64_CLASS,
    mxFUNCTION_CLASS,
    mxOPAQUE_CLASS,
    mxOBJECT_CLASS
} mxClassID;

typedef enum { mxREAL = 0, mxCOMPLEX } mxComplexity;

/* Properties of an array. */
mxClassID mxGetClassID(const mxArray *pa);
const char *mxGetClassName(const mxArray *pa);
bool mxIsClass(const mxArray *pa, const char *name);
bool mxIsCell(const mxArray *pa);
bool mxIsChar(const mxArray *pa);
bool mxIsComplex(const mxArray *pa);
bool mxIsDouble(const mxArray *pa);
bool mxIsEmpty(const mxArray *pa);
bool mxIsLogical(const mxArray *pa);
bool mxIsNumeric(const mxArray *pa);
bool mxIsSingle(const mxArray *pa);
bool mxIsSparse(const mxArray *pa);
bool mxIsStruct(const mxArray *pa);

/* Its size. */
mwSize mxGetNumberOfDimensions(const mxArray *pa);
const mwSize *mxGetDimensions(const mxArray *pa);
size_t mxGetNumberOfElements(const mxArray *pa);
size_t mxGetM(const mxArray *pa);
size_t mxGetN(const mxArray *pa);

/* Contents of an array. */
void *mxGetData(const mxArray *pa);
void *mxGetImagData(const mxArray *pa);
double *mxGetPr(const mxArray *pa);
double *mxGetPi(const mxArray *pa);
mxLogical *mxGetLogicals(const mxArray *pa);
mxChar *mxGetChars(const mxArray *pa);
double mxGetScalar(const mxArray *pa);
int mxGetString(const mxArray *pa, char *buf, mwSize buflen);
char *mxArrayToString(const mxArray *pa);
mxArray *mxGetCell(const mxArray *pa, mwIndex i);
void mxSetCell(mxArray *pa, mwIndex i, mxArray *value);
int mxGetNumberOfFields(const mxArray *pa);
int mxGetFieldNumber(const mxArray *pa, const char *name);
const char *mxGetFieldNameByNumber(const mxArray *pa, int n);
mxArray *mxGetField(const mxArray *pa, mwIndex i, const char *name);
mxArray *mxGetFieldByNumber(const mxArray *pa, mwIndex i, int n);
mxArray *mxGetProperty(const mxArray *pa, mwIndex i, const char *name);
void mxSetField(mxArray *pa, mwIndex i, const char *name, mxArray *value);
void mxSetFieldByNumber(mxArray *pa, mwIndex i, int n, mxArray *value);

/* Arrays made and unmade. The two `Uninit` functions take plain size_t, and sizes that are not const: so they are in
 * MATLAB. */
mxArray *mxCreateNumericArray(mwSize ndim, const mwSize *dims, mxClassID id, mxComplexity flag);
mxArray *mxCreateNumericMatrix(mwSize m, mwSize n, mxClassID id, mxComplexity flag);
mxArray *mxCreateUninitNumericArray(size_t ndim, size_t *dims, mxClassID id, mxComplexity flag);
mxArray *mxCreateUninitNumericMatrix(size_t m, size_t n, mxClassID id, mxComplexity flag);
mxArray *mxCreateDoubleMatrix(mwSize m, mwSize n, mxComplexity flag);
mxArray *mxCreateDoubleScalar(double value);
mxArray *mxCreateLogicalArray(mwSize ndim, const mwSize *dims);
mxArray *mxCreateLogicalMatrix(mwSize m, mwSize n);
mxArray *mxCreateLogicalScalar(mxLogical value);
mxArray *mxCreateCharArray(mwSize ndim, const mwSize *dims);
mxArray *mxCreateString(const char *text);
mxArray *mxCreateCellArray(mwSize ndim, const mwSize *dims);
mxArray *mxCreateCellMatrix(mwSize m, mwSize n);
mxArray *mxCreateStructArray(mwSize ndim, const mwSize *dims, int nfields, const char **names);
mxArray *mxCreateStructMatrix(mwSize m, mwSize n, int nfields, const char **names);
void mxDestroyArray(mxArray *pa);

/* Memory of the host. */
void *mxMalloc(size_t bytes);
void *mxCalloc(size_t count, size_t bytes);
void mxFree(void *block);

#ifdef __cplusplus
}
#endif

#endif
