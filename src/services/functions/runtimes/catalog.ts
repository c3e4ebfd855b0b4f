/** The runtimes that this host has: what a function for one looks like, how it is built and run. */
import { fileURLToPath } from 'node:url'
import type { FunctionType } from '../function-type.ts'
import { MODEL_EXAMPLE } from './model-example.ts'

export interface RuntimeVersion {
  readonly version: string
  readonly title: string
  readonly description: string
  /** functions go on with it, and no new one begins with it */
  readonly deprecated?: true
}

type ModelFramework = 'sklearn' | 'xgboost' | 'pytorch' | 'tensorflow' | 'custom'

export interface Runtime {
  readonly name: string
  readonly title: string
  readonly functionType: FunctionType
  readonly archiveFormat: 'node' | 'python' | 'byoml'
  /** names */
  readonly tags: readonly string[]
  readonly language: 'node' | 'python'
  /** the newest first */
  readonly versions: readonly [RuntimeVersion, ...RuntimeVersion[]]
  /** the file that is loaded */
  readonly main: string
  /** the file that names dependencies, and the one that locks them */
  readonly project: string
  readonly lock: string
  /** the module that its processes load, and what that reads; absent: no process of this service runs them */
  readonly harness?: { readonly module: string; readonly readable: readonly string[] }
  /** of models: what they were trained with */
  readonly framework?: ModelFramework
  /** by path */
  readonly example: ReadonlyMap<string, string>
}

const FROM_SOURCES = import.meta.url.endsWith('.ts')
const NODE_HARNESS = fileURLToPath(
  FROM_SOURCES ? new URL('./node-plug.ts', import.meta.url) : new URL('./node-plug.js', import.meta.url),
)
/** From sources: the library, the parser that it uses, and the names of its doors. */
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
/** From sources: what it is made of, and the client with what that reads. */
const SOURCES_OF_NODE_WEB_HARNESS = [
  here('.'),
  here('../../../client.ts'),
  here('../..'),
  here('../../../kernel'),
  here('../../../../package.json'),
]
const PYTHON_WEB_HARNESS = fileURLToPath(new URL('./python_web.py', import.meta.url))
const PYTHON_HARNESS = fileURLToPath(new URL('./python_plug.py', import.meta.url))
/** what both of them load */
const PYTHON_HOST = fileURLToPath(new URL('./python_host.py', import.meta.url))

const NODE_EXAMPLE = {
  'plug.json': `${JSON.stringify(
    {
      name: 'tooWarm',
      version: '1.0.0',
      type: 'sensor',
      runtime: 'plug-node24',
      interface: {
        states: ['Warm', 'Cold'],
        input: [
          { name: 'value', dataType: 'double', mandatory: true },
          { name: 'limit', dataType: 'double', defaultValue: 25 },
        ],
        output: [{ name: 'above', dataType: 'double' }],
      },
      metadata: { description: 'Whether a number is above a limit' },
    },
    undefined,
    2,
  )}\n`,
  'package.json': `${JSON.stringify({ name: 'too-warm', version: '1.0.0', private: true, type: 'module' }, undefined, 2)}\n`,
  'index.js': `import { definePlug } from 'reflexarc'

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
`,
}

const PYTHON_EXAMPLE = {
  'plug.json': NODE_EXAMPLE['plug.json'].replace('plug-node24', 'plug-python3'),
  'main.py': `def execute(properties, console, logger, client):
    value, limit = properties["value"], properties["limit"]
    console.debug(f"{value} against {limit}")
    return ("Warm" if value > limit else "Cold", {"above": value - limit})
`,
}

const WEB_MANIFEST = {
  name: 'greet',
  version: '1.0.0',
  runtime: 'web-node24',
  private: true,
  allowHmac: true,
  metadata: { description: 'Greets whoever is named' },
}

const NODE_WEB_EXAMPLE = {
  'webscript.json': `${JSON.stringify(WEB_MANIFEST, undefined, 2)}\n`,
  'package.json': `${JSON.stringify({ name: 'greet', version: '1.0.0', private: true, type: 'module' }, undefined, 2)}\n`,
  'index.js': `export async function handleRequest(req, res) {
  const name = req.query.name ?? 'world'
  console.info(\`\${req.method} \${req.path} for \${name}\`)
  res.status(200).json({ hello: name })
}
`,
}

const PYTHON_WEB_EXAMPLE = {
  'webscript.json': NODE_WEB_EXAMPLE['webscript.json'].replace('web-node24', 'web-python3'),
  'main.py': `from reflexarc import console


async def execute(request, client):
    name = request.query_params.get("name", "world")
    console.info(f"{request.method} {request.path} for {name}")
    return {"hello": name}
`,
}

/** By name. */
export const RUNTIMES: ReadonlyMap<string, Runtime> = new Map(
  (
    [
      {
        name: 'plug-node24',
        title: 'Plugs in JavaScript, on Node 24',
        functionType: 'plugs',
        archiveFormat: 'node',
        tags: ['javascript'],
        language: 'node',
        versions: [{ version: '1.0.0', title: 'Node 24', description: 'index.js exports what definePlug gives' }],
        main: 'index.js',
        project: 'package.json',
        lock: 'package-lock.json',
        harness: {
          module: NODE_HARNESS,
          readable: FROM_SOURCES ? SOURCES_OF_NODE_HARNESS : [NODE_HARNESS],
        },
        example: new Map(Object.entries(NODE_EXAMPLE)),
      },
      {
        name: 'plug-python3',
        title: 'Plugs in Python 3',
        functionType: 'plugs',
        archiveFormat: 'python',
        tags: ['python'],
        language: 'python',
        versions: [
          {
            version: '1.0.0',
            title: 'Python 3',
            description: 'main.py has execute(properties, console, logger, client), which gives a state and raw data',
          },
        ],
        main: 'main.py',
        project: 'requirements.txt',
        lock: 'requirements.txt',
        harness: { module: PYTHON_HARNESS, readable: [PYTHON_HARNESS, PYTHON_HOST] },
        example: new Map(Object.entries(PYTHON_EXAMPLE)),
      },
      {
        name: 'web-node24',
        title: 'Webscripts in JavaScript, on Node 24',
        functionType: 'webscripts',
        archiveFormat: 'node',
        tags: ['javascript'],
        language: 'node',
        versions: [
          {
            version: '1.0.0',
            title: 'Node 24',
            description: 'index.js exports a function of a request and a response',
          },
        ],
        main: 'index.js',
        project: 'package.json',
        lock: 'package-lock.json',
        harness: {
          module: NODE_WEB_HARNESS,
          readable: FROM_SOURCES ? SOURCES_OF_NODE_WEB_HARNESS : [NODE_WEB_HARNESS],
        },
        example: new Map(Object.entries(NODE_WEB_EXAMPLE)),
      },
      {
        name: 'web-python3',
        title: 'Webscripts in Python 3',
        functionType: 'webscripts',
        archiveFormat: 'python',
        tags: ['python'],
        language: 'python',
        versions: [
          {
            version: '1.0.0',
            title: 'Python 3',
            description: 'main.py has execute(request, client), which gives a response or a value',
          },
        ],
        main: 'main.py',
        project: 'requirements.txt',
        lock: 'requirements.txt',
        harness: { module: PYTHON_WEB_HARNESS, readable: [PYTHON_WEB_HARNESS, PYTHON_HOST] },
        example: new Map(Object.entries(PYTHON_WEB_EXAMPLE)),
      },
      modelRuntime('sklearn', 'scikit-learn', 'model.joblib'),
      modelRuntime('xgboost', 'XGBoost', 'model.bst', MODEL_EXAMPLE),
      modelRuntime('pytorch', 'PyTorch', 'model.pt'),
      modelRuntime('tensorflow', 'TensorFlow', 'saved_model.pb'),
      modelRuntime('custom', 'Python with classes of their own', 'model.dill'),
    ] satisfies readonly Runtime[]
  ).map((runtime) => [runtime.name, runtime]),
)

/** Models of a framework, which the models service runs. */
function modelRuntime(
  framework: ModelFramework,
  title: string,
  main: string,
  example: Readonly<Record<string, string>> = {},
): Runtime {
  return {
    name: `byoml-${framework}`,
    title: `Models of ${title}`,
    functionType: 'models',
    archiveFormat: 'byoml',
    tags: ['python', framework],
    language: 'python',
    framework,
    versions: [{ version: '1.0.0', title, description: `${main} is the model` }],
    main,
    project: 'requirements.txt',
    lock: 'requirements.txt',
    example: new Map(Object.entries(example)),
  }
}

function here(path: string): string {
  return fileURLToPath(new URL(path, import.meta.url))
}
