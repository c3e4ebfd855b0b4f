/** Creates and shows webscripts whose source is a single text. */
import { AppError } from '#kernel'
import type { Change, DeployedWebscript, FunctionsApi, FunctionVersion } from '#services/functions/contract'
import { noWebscript } from './admission.ts'
import type { NewWebscript, Operation, WebscriptChange, WebscriptInfo } from './webscript-schema.ts'

const PAGE = 100

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

  async create({ name, ...change }: NewWebscript): Promise<Operation> {
    if (change.version === undefined && (await this.#isThere(name))) {
      throw new AppError('CONFLICT', `'${name}' already exists; replace it, or set a version`)
    }
    return operationOf(await this.#api.create(filesOf(name, change), { draft: change.draft === true }))
  }

  async replace(name: string, change: WebscriptChange, named?: string): Promise<Operation> {
    if (!(await this.#isThere(name))) throw noWebscript()
    const { version = named, draft = false } = change
    const files = filesOf(name, { ...change, ...(version !== undefined && { version }) })
    const former = named === undefined ? undefined : await this.#api.get(name, named)
    const isDraft = former?.draft === true && named !== undefined
    return operationOf(
      isDraft ? await this.#api.putAssets(name, named, files) : await this.#api.create(files, { draft }),
    )
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
    const manifest = (record['webscript'] ?? {}) as {
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

function filesOf(name: string, change: WebscriptChange): ReadonlyMap<string, Uint8Array> {
  const { script, version, runtime = 'web-node24', allowHmac, envVars, metadata, dependencies = {}, lock } = change
  const deploy = envVars && { envVars }
  const manifest = { name, version, runtime, private: change.private, allowHmac, deploy, metadata }
  const texts = new Map([
    ['webscript.json', JSON.stringify(manifest)],
    [runtime === 'web-python3' ? 'main.py' : 'index.js', script],
  ])
  if (Object.keys(dependencies).length > 0) {
    texts.set('package.json', JSON.stringify({ dependencies }))
    texts.set('package-lock.json', JSON.stringify(lock))
  }
  return new Map([...texts].map(([path, text]) => [path, new TextEncoder().encode(text)]))
}
