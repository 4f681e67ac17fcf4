function plan = buildfile ()
%buildfile  Tasks for MATLAB's buildtool: check, test, package.
%
%   buildtool          checks the code and runs the tests
%   buildtool package  makes stencil-mex-VERSION.mltbx of the toolbox

  plan = buildplan (localfunctions);
  plan('check') = matlab.buildtool.tasks.CodeIssuesTask ('toolbox');
  plan('test') = matlab.buildtool.tasks.TestTask ('tests', 'SourceFiles', 'toolbox');
  plan.DefaultTasks = {'check', 'test'};
end

function packageTask (context)
% Package the toolbox
  root = context.Plan.RootFolder;
  version = toolboxVersion (root);
  options = matlab.addons.toolbox.ToolboxOptions (fullfile (root, 'toolbox'), ...
                                                  'af3fa231-d969-4748-bdaa-e9f53c832c64');
  options.ToolboxName = 'stencil-mex';
  options.ToolboxVersion = version;
  options.AuthorName = 'The stencil-mex contributors';
  options.Summary = 'Stencils and convolutions on NVIDIA GPUs';
  options.MinimumMatlabRelease = 'R2018a';
  options.SupportedPlatforms.Glnxa64 = true;
  options.SupportedPlatforms.Maci64 = false;
  options.SupportedPlatforms.Win64 = false;
  options.OutputFile = fullfile (root, ['stencil-mex-' version '.mltbx']);
  matlab.addons.toolbox.packageToolbox (options);
end

% The version stands in the second line of Contents.m.
function version = toolboxVersion (root)
  version = regexp (fileread (fullfile (root, 'toolbox', 'Contents.m')), ...
                    '^% Version (\S+)', 'tokens', 'once', 'lineanchors');
  version = version{1};
end
