% Errors: each has an identifier that a script can test and a text that says what was got and what is expected. After
% any of them the session and the next call are as they were.

calls = {@() StencilConstantMemory_CUDA (1:10, []), 'StencilConstantMemory:kernelLength'
         @() StencilConstantMemory_CUDA (1:10, ones (1, 8192)), 'StencilConstantMemory:kernelLength'
         @() StencilConstantMemory_CUDA (int8 (1:10), [1 1 1]), 'StencilConstantMemory:dataType'
         @() StencilConstantMemory_CUDA (1:10, [1 1 1], 'Boundary', 'reflect'), 'StencilConstantMemory:option'
         @() ConvolutionConstantMemory_CUDA (rand (5), ones (91)), 'ConvolutionConstantMemory:filterSize'
         @() DerivativeConstantMemory_CUDA (1:20, -1), 'DerivativeConstantMemory:spacing'};

for i = 1:size (calls, 1)
  raised = '';
  try
    calls{i,1} ();
  catch failure
    raised = failure.identifier;
    printf ('%s\n  %s\n', raised, failure.message);
  end
  assert (raised, calls{i,2});
end

y = StencilConstantMemory_CUDA (1:10, [1 1 1], 'Backend', 'cpu');
assert (y(5), 15);
