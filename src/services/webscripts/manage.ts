/** Webscripts made and looked at in one request each: a script as text in the place of an archive. */
import { AppError, isPlainObject, type Issue, makeIssue, validationError } from '#kernel'
import type { Change, DeployedWebscript, FunctionsApi, FunctionVersion } from '#services/functions/contract'
import { noWebscript } from './admission.ts'
import type { Operation, WebscriptInfo } from './contract.ts'

const MEMBERS: ReadonlySet<string> = new Set([
  'name',
  'script',
  'version',
  'runtime',
  'private',
  'allowHmac',
  'draft',
  'envVars',
  'metadata',
  'dependencies',
  'lock',
])
const PAGE = 100

/** `api`: webscripts of the registry. `deployed`: as they can be called now. */
export class Management {
  readonly #api: FunctionsApi
  readonly #deployed: (name: string) => readonly DeployedWebscript[]

  constructor(api: FunctionsApi, deployed: (name: string) => readonly DeployedWebscript[]) {
    this.#api = api
    this.#deployed = deployed
  }

  async list(): Promise<readonly WebscriptInfo[]> {
    const found: WebscriptInfo[] = []
    for (let page = 0; ; page++) {
      const { entities } = await this.#api.list({ limit: PAGE, page, showRelated: 'none', includeDraft: false })
      found.push(...entities.map((one) => this.#infoOf(one)))
      if (entities.length < PAGE) return found
    }
  }

  async get(name: string, version?: string): Promise<WebscriptInfo> {
    const isAny = version === undefined || version === 'latest' || version === '*'
    return this.#infoOf(await (isAny ? this.#api.latest(name) : this.#api.get(name, version)))
  }

  async create(body: unknown): Promise<Operation> {
    const { name, version, files, draft } = read(body)
    if (version === undefined && (await this.#isThere(name))) {
      throw new AppError('CONFLICT', `'${name}' exists already; replace it, or give a version`)
    }
    return operationOf(await this.#api.create(files, { draft }))
  }

  /** The next version of it; of a draft that is named, its files. */
  async replace(name: string, body: unknown, version?: string): Promise<Operation> {
    if (!(await this.#isThere(name))) throw noWebscript()
    const given = isPlainObject(body) ? { ...body, name } : body
    const { files, draft } = read(given, { version })
    const former = version === undefined ? undefined : await this.#api.get(name, version)
    const change =
      former?.draft === true && version !== undefined
        ? await this.#api.putAssets(name, version, files)
        : await this.#api.create(files, { draft })
    return operationOf(change)
  }

  async remove(name: string, version?: string): Promise<Operation> {
    const { message, versions, job } = await this.#api.remove(name, version, { force: true })
    return { message, name, version: versions[0] ?? '', ...(job && { operation: hrefOf(job.id) }) }
  }

  async operation(id: string): Promise<Readonly<Record<string, unknown>>> {
    for (const type of ['verify', 'undeploy'] as const) {
      try {
        const { job, function: about, operation } = await this.#api.jobs.get(type, id)
        const { name = '', version = '' } = about ?? {}
        const { state, failedReason, result } = job
        return { id, state, operation, name, version, ...(failedReason && { failedReason }), ...(result && { result }) }
      } catch (error) {
        if (!(error instanceof AppError && error.code === 'NOT_FOUND')) throw error
      }
    }
    throw new AppError('NOT_FOUND', `No operation '${id.slice(0, 100)}'`)
  }

  async #isThere(name: string): Promise<boolean> {
    return (await this.#api.list({ exactName: name, status: ['any'], latest: false, limit: 1 })).count > 0
  }

  #infoOf({ name, version, status, draft, deprecated, record }: FunctionVersion): WebscriptInfo {
    const manifest = (isPlainObject(record['webscript']) ? record['webscript'] : {}) as {
      readonly private?: boolean
      readonly allowHmac?: boolean
      readonly runtime?: string
    }
    const found = this.#deployed(name).find((one) => one.version === version)
    if (found === undefined) throw noWebscript()
    const { id, tenant, secret } = found
    return {
      id,
      name,
      version,
      status,
      draft,
      deprecated,
      private: manifest.private !== false,
      allowHmac: manifest.allowHmac !== false,
      runtime: manifest.runtime ?? '',
      href: `/api/v1/${encodeURIComponent(tenant)}/${name}`,
      ...(secret !== undefined && { secret }),
    }
  }
}

function operationOf({ message, entity, job }: Change): Operation {
  const { name, version } = entity
  return { message, name, version, ...(job && { operation: hrefOf(job.id) }) }
}

function hrefOf(id: string): NonNullable<Operation['operation']> {
  return { id, href: `/api/v1/webscripts/operations/${encodeURIComponent(id)}` }
}

interface Read {
  readonly name: string
  readonly version: string | undefined
  readonly draft: boolean
  readonly files: ReadonlyMap<string, Uint8Array>
}

/** The files of a webscript that is one text. `VALIDATION` with all problems. */
function read(body: unknown, { version: asked }: { readonly version?: string | undefined } = {}): Read {
  const issues: Issue[] = []
  const wrong = (path: string, message: string): void => void issues.push(makeIssue('MANIFEST', path, message))
  const given = isPlainObject(body) ? body : {}
  if (!isPlainObject(body)) wrong('', 'is no JSON object; write { "name": "...", "script": "..." }')
  for (const key of Object.keys(given)) if (!MEMBERS.has(key)) wrong(`/${key.slice(0, 100)}`, 'is unknown')
  const { name, script, runtime = 'web-node24', draft = false, envVars, metadata, dependencies, lock } = given
  const version = given['version'] ?? asked
  if (typeof name !== 'string') wrong('/name', 'is missing: it is a text')
  if (typeof script !== 'string' || script === '') wrong('/script', 'is missing: it is the text of the script')
  if (version !== undefined && typeof version !== 'string') wrong('/version', 'is a text: major.minor.patch')
  if (typeof draft !== 'boolean') wrong('/draft', 'is true or false')
  const hasPackages = isPlainObject(dependencies) && Object.keys(dependencies).length > 0
  if (dependencies !== undefined && !isPlainObject(dependencies)) wrong('/dependencies', 'is an object')
  if (hasPackages && !isPlainObject(lock)) {
    wrong('/lock', 'is missing: dependencies are installed as a package-lock.json has them; give it as an object')
  }
  if (issues.length > 0) throw validationError('the webscript', issues)
  const isPython = runtime === 'web-python3'
  const manifest = {
    name,
    ...(version !== undefined && { version }),
    runtime,
    ...(given['private'] !== undefined && { private: given['private'] }),
    ...(given['allowHmac'] !== undefined && { allowHmac: given['allowHmac'] }),
    ...(envVars !== undefined && { deploy: { envVars } }),
    ...(metadata !== undefined && { metadata }),
  }
  const texts = [
    ['webscript.json', JSON.stringify(manifest)],
    [isPython ? 'main.py' : 'index.js', String(script)],
    ...(hasPackages
      ? [
          ['package.json', JSON.stringify({ dependencies })],
          ['package-lock.json', JSON.stringify(lock)],
        ]
      : []),
  ] as const
  return {
    name: String(name),
    version: typeof version === 'string' ? version : undefined,
    draft: draft === true,
    files: new Map(texts.map(([path, text]) => [path ?? '', new TextEncoder().encode(text)])),
  }
}
