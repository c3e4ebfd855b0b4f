/** Finds the Python runtimes of this host: virtual environments in a folder, by framework. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import type { Interpreter } from '#platform/sandbox'
import type { Framework } from '../frameworks.ts'

export interface PythonRuntime {
  readonly name: string
  readonly version: string
  readonly interpreter: Interpreter
  readonly paths: readonly string[]
  readonly frameworks: Readonly<Partial<Record<Framework, string>>>
}

const PACKAGES: Readonly<Record<Framework, readonly string[]>> = {
  sklearn: ['scikit-learn'],
  xgboost: ['xgboost', 'xgboost-cpu'],
  pytorch: ['torch'],
  tensorflow: ['tensorflow', 'tensorflow-cpu'],
  custom: ['dill'],
}

const TELL = `import importlib.metadata as metadata, json, os, sys
def version(names):
    for name in names:
        try:
            return metadata.version(name)
        except metadata.PackageNotFoundError:
            pass
paths = [one for one in sys.path if one.endswith("-packages") and os.path.isdir(one)]
found = {key: version(names) for key, names in json.loads(sys.argv[1]).items()}
print(json.dumps([os.path.realpath(sys.executable), sys.base_prefix, sys.version.split()[0], paths, found]))`
const ALTERNATIVES = '/etc/alternatives'
const TELL_MS = 20_000
const NAME = /^[A-Za-z0-9][A-Za-z0-9_.-]{0,60}$/

export class PythonRuntimes {
  readonly #folder: string
  readonly #known = new Map<string, Promise<PythonRuntime | undefined>>()

  /** `folder`: absolute path of a folder that contains one virtual environment per subfolder. */
  constructor(folder: string) {
    this.#folder = folder
  }

  async all(): Promise<readonly PythonRuntime[]> {
    const names = (await readdir(this.#folder).catch(() => [])).filter((name) => NAME.test(name)).sort()
    const found = await Promise.all(names.map((name) => this.#look(name)))
    return found.filter((one) => one !== undefined)
  }

  async of(framework: Framework): Promise<PythonRuntime | undefined> {
    return (await this.all()).find(({ frameworks }) => frameworks[framework] !== undefined)
  }

  #look(name: string): Promise<PythonRuntime | undefined> {
    const known = this.#known.get(name)
    if (known !== undefined) return known
    const looking = lookAt(name, join(this.#folder, name))
    this.#known.set(name, looking)
    // an incomplete runtime is inspected again later
    void looking.then((found) => {
      if (found === undefined) this.#known.delete(name)
    })
    return looking
  }
}

type InterpreterFacts = readonly [
  path: string,
  prefix: string,
  version: string,
  paths: readonly string[],
  found: Readonly<Partial<Record<Framework, string | null>>>,
]

async function lookAt(name: string, folder: string): Promise<PythonRuntime | undefined> {
  try {
    const args = ['-I', '-c', TELL, JSON.stringify(PACKAGES)]
    const limits = { env: {}, timeout: TELL_MS, killSignal: 'SIGKILL' } as const
    const { stdout } = await promisify(execFile)(join(folder, 'bin', 'python'), args, limits)
    const [path, prefix, version, paths, found] = JSON.parse(stdout) as InterpreterFacts
    const frameworks = Object.fromEntries(Object.entries(found).filter(([, one]) => one !== null))
    if (Object.keys(frameworks).length === 0) return undefined
    // sandboxes already see the system's libraries, but links on Debian go through the alternatives folder
    const prefixes = prefix !== '/usr' ? [prefix] : existsSync(ALTERNATIVES) ? [ALTERNATIVES] : []
    const readable = [...prefixes, ...paths.filter((one) => !one.startsWith('/usr/lib/'))]
    return { name, version, interpreter: { path, readable }, paths, frameworks }
  } catch {
    return undefined
  }
}
