function step = compile (f, varargin)
%compile  A step of a solver as few kernels: a function that does it.
%
%   STEP = DeviceArray.compile (F, U, V, ...)
%   STEP = DeviceArray.compile (F, U, V, ..., 'States', K)
%   [U, V, ...] = STEP (U, V, ...)
%
%   F is recorded with arrays like U, V, ..., as iterate does it, and says
%   what it cannot record. STEP takes what F takes and gives what it gives,
%   to the last bit. Called with arrays of other sizes or classes, or with
%   other constants behind the states, it is recorded anew, which takes about
%   as long as F itself; with a handle among them or in F, such as a
%   containers.Map or an object, each time. Kernels are known by what they do:
%   other sizes, other numbers and other filters of the same size need no new
%   one. A STEP that was saved and loaded says that it must be compiled again.
%
%   Many steps are done in less time by iterate (STEP, N, U, V, ...): it does
%   not come back to the interpreter in between. A call of STEP takes about
%   0.1 ms beside its kernels.
%
%   Errors
%     DeviceArray:trace   what cannot be recorded, and where
%     DeviceArray:option  a bad option
%
%   Example
%     step = DeviceArray.compile (@(u) u + 0.1 * sin (u), DeviceArray (0:9));
%     u = step (DeviceArray (1:10));
%
%   See also iterate.

  [arguments, asked] = stepOptions (f, varargin);
  others = {'Every', 0; 'Record', []; 'Values', []; 'Until', []; 'Progress', false};
  for i = 1:size (others, 1)
    if ~isequal (asked.(others{i,1}), others{i,2})
      badOption (sprintf ('compile takes no ''%s''; iterate does.', others{i,1}));
    end
  end
  constants = arguments(asked.States+1:end);
  held = onDevice (arguments(1:asked.States), constants);
  asked.Constants = numel (constants);
  % The object behind a handle may change: such a step is recorded each time.
  asked.Anew = ~areAlike (f, f);
  number = DeviceArray_CUDA ('record', held{1});
  % The step goes with the last handle.
  guard = whenGone (@(varargin) dropStep (number));
  asked.Kernels = recordStep (number, f, held, constants, asked);
  keptConstants (number, constants);
  % By a name that is found from a file, too: a step that was loaded says that it is none.
  step = @(varargin) DeviceArray.runStep (guard, number, f, asked, varargin);
  if asked.Constants == 0 && ~asked.Anew
    % Arrays that fit need no more than the MEX function. It calls RUN with others.
    run = step;
    step = @(varargin) DeviceArray_CUDA ('step', number, run, varargin{:});
  end
end
