% Arrays of seven shapes and one number of elements, by filters of 3 x 3, of a row and of a column, one pass and 100
% sweeps, as lines of CSV:
%   ENGINE,CLASS,FILTER,SIZE,SWEEPS,US,TIMES
% US are the microseconds of a call over an array that stays where the engine has it; TIMES how often the quickest of the seven
% would have run meanwhile.
%
% shapes ()                 the backend that a call without options uses
% shapes (BACKEND, QUICK)   'auto', 'cuda' or 'cpu'; with QUICK true small arrays, to see that it works
function shapes (backend, quick)
  if (nargin < 1), backend = 'auto'; end
  if (nargin < 2), quick = false; end
  find_functions ();
  C = @ConvolutionConstantMemory_CUDA;
  [sizes, least] = deal ({[1000 1000] [1e6 1] [1 1e6] [2 5e5] [3 333333] [100 100 100] [10 10 1e4]}, 0.05);
  if (quick)
    [sizes, least] = deal ({[30 30] [900 1] [1 900] [2 450] [3 300] [10 10 9] [3 3 100]}, 0.001);
  end
  printf ('engine,class,filter,size,sweeps,us,times\n');
  for class = {'double', 'single'}
    for of_filter = {[3 3], [1 3], [3 1]}
      % A single column loses half with each sweep, which leaves no subnormal numbers after a hundred.
      F = ones (of_filter{1}, class{1});
      for d = find (of_filter{1} == 3)
        F = F .* reshape ([1 2 1] / 4, circshift ([3 1], d - 1));
      end
      for sweeps = [1 100]
        us = zeros (size (sizes));
        for i = 1:numel (sizes)
          u = DeviceArray (rand (sizes{i}, class{1}), 'Backend', backend);
          us(i) = sweep_time (@(m) again (@() C (u, F, 'Iterations', sweeps), m), least);
        end
        for i = 1:numel (sizes)
          what = sprintf ('%s,%s,%s,%d', class{1}, by (of_filter{1}), by (sizes{i}), sweeps);
          printf ('%s,%s,%.4g,%.2f\n', backend, what, us(i), us(i) / min (us));
        end
        fflush (stdout);
      end
    end
  end
end

function text = by (dims)
  text = strjoin (arrayfun (@(d) sprintf ('%d', d), dims, 'UniformOutput', false), 'x');
end

function last = again (call, m)
  for i = 1:m
    last = call ();
  end
end
