/** Lists the runtimes of this host: how their functions are built and run, with examples. */
import { fileURLToPath } from 'node:url'
import type { FunctionType } from '../function-type.ts'

export interface RuntimeVersion {
  readonly version: string
  readonly title: string
  readonly description: string
  /** still runs existing functions, but accepts no new ones */
  readonly deprecated?: true
}

type ModelFramework = 'sklearn' | 'xgboost' | 'pytorch' | 'tensorflow' | 'custom'

export interface Runtime {
  readonly name: string
  readonly title: string
  readonly functionType: FunctionType
  readonly archiveFormat: 'node' | 'python' | 'byoml'
  readonly tags: readonly string[]
  readonly language: 'node' | 'python'
  readonly versions: readonly [RuntimeVersion, ...RuntimeVersion[]]
  readonly main: string
  readonly project: string
  readonly lock: string
  /** how processes run; absent when this host runs none for the runtime */
  readonly harness?: { readonly module: string; readonly readable: readonly string[] }
  readonly framework?: ModelFramework
  readonly example: ReadonlyMap<string, string>
}

const FROM_SOURCES = import.meta.url.endsWith('.ts')
const NODE_HARNESS = fileURLToPath(
  FROM_SOURCES ? new URL('./node-plug.ts', import.meta.url) : new URL('./node-plug.js', import.meta.url),
)
/** When running from sources: the library with its parser, and the packages that it imports. */
const SOURCES_OF_NODE_HARNESS = [
  NODE_HARNESS,
  here('./host-fetch.ts'),
  here('./send-plug.ts'),
  here('../../../core'),
  here('../../../kernel'),
  here('../../../../node_modules/acorn'),
  here('../../../../package.json'),
]
const NODE_WEB_HARNESS = fileURLToPath(
  FROM_SOURCES ? new URL('./node-web.ts', import.meta.url) : new URL('./node-web.js', import.meta.url),
)
/** When running from sources: the client and its imports. */
const SOURCES_OF_NODE_WEB_HARNESS = [
  here('.'),
  here('../../../client.ts'),
  here('../..'),
  here('../../../kernel'),
  here('../../../../package.json'),
]
const PYTHON_WEB_HARNESS = here('./python_web.py')
const PYTHON_HARNESS = here('./python_plug.py')
const PYTHON_HOST = here('./python_host.py')

const PLUG_MANIFEST = {
  name: 'tooWarm',
  version: '1.0.0',
  type: 'sensor',
  interface: {
    states: ['Warm', 'Cold'],
    input: [
      { name: 'value', dataType: 'double', mandatory: true },
      { name: 'limit', dataType: 'double', defaultValue: 25 },
    ],
    output: [{ name: 'above', dataType: 'double' }],
  },
  metadata: { description: 'Whether a number is above a limit' },
}
const NODE_PLUG = `import { definePlug } from 'reflexarc'

export default definePlug({
  name: 'tooWarm',
  version: '1.0.0',
  kind: 'sensor',
  states: ['Warm', 'Cold'],
  input: {
    value: { type: 'double', mandatory: true },
    limit: { type: 'double', defaultValue: 25 },
  },
  output: { above: { type: 'double' } },
  execute({ properties: { value, limit }, log }) {
    log.debug(\`\${value} against \${limit}\`)
    return { state: value > limit ? 'Warm' : 'Cold', rawData: { above: value - limit } }
  },
})
`
const PYTHON_PLUG = `def execute(properties, console, logger, client):
    value, limit = properties["value"], properties["limit"]
    console.debug(f"{value} against {limit}")
    return ("Warm" if value > limit else "Cold", {"above": value - limit})
`
const WEB_MANIFEST = {
  name: 'greet',
  version: '1.0.0',
  private: true,
  allowHmac: true,
  metadata: { description: 'Greets by name' },
}
const NODE_WEB = `export async function handleRequest(req, res) {
  const name = req.query.name ?? 'world'
  console.info(\`\${req.method} \${req.path} for \${name}\`)
  res.status(200).json({ hello: name })
}
`
const PYTHON_WEB = `from reflexarc import console


async def execute(request, client):
    name = request.query_params.get("name", "world")
    console.info(f"{request.method} {request.path} for {name}")
    return {"hello": name}
`

const MODEL_MANIFEST = {
  name: 'wear',
  version: '1.0.0',
  metadata: { description: 'Wear of a machine by its heat and its hours' },
}
/** A linear Booster as written by `save_model`: 0.5 per degree, and 2 per hour after the first. */
const BOOSTER = {
  learner: {
    attributes: {},
    feature_names: ['heat', 'hours'],
    feature_types: [],
    gradient_booster: { model: { boosted_rounds: 1, weights: [0.5, 2, -2] }, name: 'gblinear' },
    learner_model_param: {
      base_score: '[0E0]',
      boost_from_average: '1',
      num_class: '0',
      num_feature: '2',
      num_target: '1',
    },
    objective: { name: 'reg:squarederror', reg_loss_param: { scale_pos_weight: '1' } },
  },
  version: [3, 2, 0],
}

const NODE = {
  archiveFormat: 'node',
  tags: ['javascript'],
  language: 'node',
  main: 'index.js',
  project: 'package.json',
  lock: 'package-lock.json',
} as const
const PYTHON = {
  archiveFormat: 'python',
  tags: ['python'],
  language: 'python',
  main: 'main.py',
  project: 'requirements.txt',
  lock: 'requirements.txt',
} as const
const nodeHarness = (module: string, sources: readonly string[]) => ({
  module,
  readable: FROM_SOURCES ? sources : [module],
})
const pythonHarness = (module: string) => ({ module, readable: [module, PYTHON_HOST] })
const projectOf = (name: string): string => fileOf({ name, version: '1.0.0', private: true, type: 'module' })

export const RUNTIMES: ReadonlyMap<string, Runtime> = new Map(
  (
    [
      {
        ...NODE,
        name: 'plug-node24',
        title: 'Plugs in JavaScript, on Node 24',
        functionType: 'plugs',
        versions: [{ version: '1.0.0', title: 'Node 24', description: 'index.js exports a plug of definePlug' }],
        harness: nodeHarness(NODE_HARNESS, SOURCES_OF_NODE_HARNESS),
        example: exampleOf('plug.json', PLUG_MANIFEST, 'plug-node24', {
          'package.json': projectOf('too-warm'),
          'index.js': NODE_PLUG,
        }),
      },
      {
        ...PYTHON,
        name: 'plug-python3',
        title: 'Plugs in Python 3',
        functionType: 'plugs',
        versions: [
          {
            version: '1.0.0',
            title: 'Python 3',
            description: 'main.py has execute(properties, console, logger, client), which returns a state and raw data',
          },
        ],
        harness: pythonHarness(PYTHON_HARNESS),
        example: exampleOf('plug.json', PLUG_MANIFEST, 'plug-python3', { 'main.py': PYTHON_PLUG }),
      },
      {
        ...NODE,
        name: 'web-node24',
        title: 'Webscripts in JavaScript, on Node 24',
        functionType: 'webscripts',
        versions: [
          {
            version: '1.0.0',
            title: 'Node 24',
            description: 'index.js exports a function of a request and a response',
          },
        ],
        harness: nodeHarness(NODE_WEB_HARNESS, SOURCES_OF_NODE_WEB_HARNESS),
        example: exampleOf('webscript.json', WEB_MANIFEST, 'web-node24', {
          'package.json': projectOf('greet'),
          'index.js': NODE_WEB,
        }),
      },
      {
        ...PYTHON,
        name: 'web-python3',
        title: 'Webscripts in Python 3',
        functionType: 'webscripts',
        versions: [
          {
            version: '1.0.0',
            title: 'Python 3',
            description: 'main.py has execute(request, client), which returns a response or a value',
          },
        ],
        harness: pythonHarness(PYTHON_WEB_HARNESS),
        example: exampleOf('webscript.json', WEB_MANIFEST, 'web-python3', { 'main.py': PYTHON_WEB }),
      },
      modelRuntime('sklearn', 'scikit-learn', 'model.joblib'),
      modelRuntime(
        'xgboost',
        'XGBoost',
        'model.bst',
        exampleOf('model.json', MODEL_MANIFEST, 'byoml-xgboost', { 'model.bst': `${JSON.stringify(BOOSTER)}\n` }),
      ),
      modelRuntime('pytorch', 'PyTorch', 'model.pt'),
      modelRuntime('tensorflow', 'TensorFlow', 'saved_model.pb'),
      modelRuntime('custom', 'Python with classes of their own', 'model.dill'),
    ] satisfies readonly Runtime[]
  ).map((runtime) => [runtime.name, runtime]),
)

function exampleOf(
  file: string,
  { name, version, ...manifest }: { readonly name: string; readonly version: string },
  runtime: string,
  files: Readonly<Record<string, string>>,
): ReadonlyMap<string, string> {
  return new Map([[file, fileOf({ name, version, runtime, ...manifest })], ...Object.entries(files)])
}

function fileOf(value: object): string {
  return `${JSON.stringify(value, undefined, 2)}\n`
}

function modelRuntime(
  framework: ModelFramework,
  title: string,
  main: string,
  example: Runtime['example'] = new Map(),
): Runtime {
  return {
    name: `byoml-${framework}`,
    title: `Models of ${title}`,
    functionType: 'models',
    ...PYTHON,
    archiveFormat: 'byoml',
    tags: ['python', framework],
    framework,
    versions: [{ version: '1.0.0', title, description: `${main} is the model` }],
    main,
    example,
  }
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}
