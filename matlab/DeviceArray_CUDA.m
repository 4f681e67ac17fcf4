function varargout = DeviceArray_CUDA (verb, varargin)
%DeviceArray_CUDA  Internal: what the class DeviceArray calls.
%
%   Use the class instead: help DeviceArray.
%
%   RESULT = DeviceArray_CUDA (VERB, ...)
%
%   Holds the arrays behind objects of the class DeviceArray, on an NVIDIA GPU
%   or in the memory of the CPU, and computes with them. VERB says what is done;
%   the methods of the class name the verbs. They may change with any version.
%
%   One verb is of use to tests:
%     COUNT = DeviceArray_CUDA ('count')  the number of arrays that are held now
%
%   Errors have the identifiers of the class, DeviceArray:... . "help
%   DeviceArray" lists them.
%
%   See also DeviceArray, ConstantMemoryDevice_CUDA, compile_mex.

  % Reached only where the MEX file of the same name is missing. An object whose
  % constructor failed here is still deleted: that must be silent.
  if strcmp (verb, 'delete')
    return;
  end
  error ('DeviceArray:notBuilt', ...
         ['DeviceArray_CUDA is not built yet: run compile_mex here, or "make build" in ' ...
          'the project''s folder.']);
end

%!error id=DeviceArray:numberOfInputs DeviceArray_CUDA ()
