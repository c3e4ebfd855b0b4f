/** Runs the webscripts of one tenant, and keeps their logs and metrics. */
import { AppError, type Caller, type Causation, isPlainObject, LruCache, TransientMap } from '#kernel'
import {
  type ApiAnswer,
  type ApiRequest,
  type DeployedWebscript,
  type FunctionLine,
  type InternalFunctions,
  PIECE_BYTES,
  type WebCallParams,
} from '#services/functions/contract'
import semver from 'semver'
import { type AdmissionOptions, admit as admitCaller, noWebscript } from './admission.ts'
import { type CallLimits, CallQuota } from './call-quota.ts'
import type {
  Admitted,
  InternalWebscripts,
  ScriptAnswer,
  ScriptRequest,
  ShownCredentials,
  WebscriptsApi,
} from './contract.ts'
import { Management } from './manage.ts'
import { type CallTimes, OpenCall } from './open-call.ts'
import { ScriptFigures } from './script-figures.ts'
import type { ScriptLog } from './script-log.ts'
import type { LogLevel } from './webscript-schema.ts'

export interface WebscriptsOptions extends AdmissionOptions, CallTimes {
  readonly tenant: string
  readonly functions: () => InternalFunctions | undefined
  readonly callApi: (
    caller: Caller,
    request: ApiRequest,
    signal: AbortSignal,
    causation: Causation | undefined,
  ) => Promise<ApiAnswer>
  readonly limits: CallLimits
  readonly log: ScriptLog
  readonly newId: () => string
}

export function createWebscriptsService(options: WebscriptsOptions): InternalWebscripts {
  return new Webscripts(options)
}

const MAX_FIGURES = 10_000

class Webscripts implements InternalWebscripts {
  readonly #options: WebscriptsOptions
  readonly #calls = new TransientMap<string, OpenCall>()
  readonly #figures = new LruCache<string, ScriptFigures>(MAX_FIGURES)
  readonly #quota: CallQuota
  #total = 0
  #errors = 0

  constructor(options: WebscriptsOptions) {
    this.#options = options
    const { limits, clock, functions } = options
    this.#quota = new CallQuota({ ...limits, clock, cpuMs: () => functions()?.cpuMs() ?? 0 })
  }

  as(caller: Caller): WebscriptsApi {
    const { functions, log } = this.#options
    const management = (): Management => {
      const service = functions()
      if (service === undefined) throw new AppError('CLOSED', 'this host does not serve functions')
      return new Management(service.as(caller, 'webscripts'), (name) => service.webscripts(name))
    }
    const known = (name: string): string => {
      if (!this.has(name)) throw noWebscript()
      return name
    }
    return {
      list: async () => management().list(),
      get: async (name, version) => management().get(name, version),
      create: async (body) => management().create(body),
      replace: async (name, body, version) => management().replace(name, body, version),
      remove: async (name, version) => management().remove(name, version),
      operation: async (id) => management().operation(id),
      log: async (name, query = {}) => log.page(this.#keyOf(known(name)), query),
      tail: (name, query) => log.tail(this.#keyOf(known(name)), query),
      metrics: async (name) => this.#figuresOf(known(name)).metrics,
    }
  }

  has(name: string): boolean {
    return this.#versions(name).length > 0
  }

  nameOf(id: string): string | undefined {
    return this.#options.functions()?.webscriptName(id)
  }

  choose(name: string, version?: string): DeployedWebscript | undefined {
    const versions = this.#versions(name)
    const exact = versions.find((one) => one.version === version)
    if (exact !== undefined) return exact
    const published = versions.filter((one) => !one.draft && isRequested(one.version, version))
    return (
      published.find((one) => one.isRunning && !one.deprecated) ??
      published.find((one) => one.isRunning) ??
      published[0]
    )
  }

  authenticate(script: DeployedWebscript | undefined, shown: ShownCredentials): Promise<Admitted> {
    return admitCaller(script, script?.isPrivate === true ? this.#secretsOf(script) : [], shown, this.#options)
  }

  #secretsOf({ name, secret }: DeployedWebscript): readonly string[] {
    if (secret === undefined) return []
    const others = this.#versions(name).filter((one) => !one.draft && one.isRunning)
    return [secret, ...others.flatMap((one) => one.secret ?? [])]
  }

  admit(): void {
    this.#quota.admit()
  }

  async call(script: DeployedWebscript, request: ScriptRequest): Promise<ScriptAnswer> {
    const { name, version } = script
    const functions = this.#options.functions()
    if (functions === undefined || !script.isRunning) {
      throw new AppError('CLOSED', `The webscript is not running: its status is ${script.status}`)
    }
    const release = this.#quota.begin()
    const requestId = this.#options.newId()
    const figures = this.#figuresOf(name)
    const { log } = this.#options
    const call = new OpenCall(this.#options, {
      requestId,
      name,
      key: this.#keyOf(name),
      version,
      request,
      log,
      figures,
    })
    this.#total++
    this.#calls.set(requestId, call)
    const options = { signal: request.signal, timer: call.timer, onStart: () => void figures.coldStarts++ }
    const answered = functions.callWebscript(name, version, paramsOf(requestId, request), options)
    void this.#finish(call, answered, () => {
      this.#calls.delete(requestId)
      release()
      call.end()
    })
    return call.answer
  }

  async answer(
    { name, version }: Pick<DeployedWebscript, 'name' | 'version'>,
    question: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (!isPlainObject(params)) throw new AppError('PLUG_FAILED', 'a question has parameters')
    if (question === 'api') {
      const { tenant, callApi } = this.#options
      const script = this.#versions(name).find((one) => one.version === version)
      if (script === undefined) throw new AppError('PLUG_FAILED', 'the webscript is being removed')
      const caller = { tenant, user: `webscripts/${name}`, ...(script.rights && { rights: script.rights }) }
      return callApi(caller, requestOf(params), signal, this.#causationOf(name))
    }
    const call = this.#calls.get(String(params['id']))
    // a webscript can refer only to its own calls
    if (call?.name !== name) throw new AppError('PLUG_FAILED', 'that call is not open')
    if (question === 'web.read') return call.read(params['offset'])
    if (question === 'web.head') return call.begin(params)
    if (question === 'web.write') return call.write(params)
    throw new AppError('PLUG_FAILED', `the host does not know the question ${question.slice(0, 100)}`)
  }

  addLine({ type, name, version, time, level, text }: FunctionLine): void {
    if (type !== 'webscripts') return
    const line = { time, level: level as LogLevel, kind: 'console', message: text, version } as const
    this.#options.log.add(this.#keyOf(name), line)
  }

  gauges(): ReturnType<InternalWebscripts['gauges']> {
    return { open: this.#calls.size, calls: this.#total, errors: this.#errors }
  }

  async #finish(call: OpenCall, answered: Promise<unknown>, ended: () => void): Promise<void> {
    try {
      call.finish(await answered)
    } catch (error) {
      this.#errors++
      call.fail(error)
    } finally {
      ended()
    }
  }

  /** The longest chain among open calls, since an API request does not name its call; counting on ends loops. */
  #causationOf(name: string): Causation | undefined {
    let longest: Causation | undefined
    for (const { name: called, causation } of this.#calls.values()) {
      if (called === name && causation !== undefined && causation.hops > (longest?.hops ?? -1)) longest = causation
    }
    return longest
  }

  #versions(name: string): readonly DeployedWebscript[] {
    return this.#options.functions()?.webscripts(name) ?? []
  }

  #figuresOf(name: string): ScriptFigures {
    const known = this.#figures.get(name)
    if (known !== undefined) return known
    const figures = new ScriptFigures()
    this.#figures.set(name, figures)
    return figures
  }

  #keyOf(name: string): string {
    return `${this.#options.tenant}/${name}`
  }
}

function paramsOf(id: string, { method, path, query, headers, body }: ScriptRequest): WebCallParams {
  const size = body.length
  const params = { id, method, path, query, headers, size }
  if (size === 0 || size > PIECE_BYTES) return params
  return { ...params, body: Buffer.from(body.buffer, body.byteOffset, size).toString('base64') }
}

function requestOf(params: Readonly<Record<string, unknown>>): ApiRequest {
  const { method, path, headers = [], body } = params
  const pairs = Array.isArray(headers) ? (headers as readonly unknown[]) : []
  const areTexts = pairs.every(
    (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === 'string'),
  )
  if (typeof method !== 'string' || typeof path !== 'string' || !areTexts) {
    throw new AppError('PLUG_FAILED', 'a request to the API has a method, a path and headers')
  }
  if (body !== undefined && typeof body !== 'string') throw new AppError('PLUG_FAILED', 'the body must be text')
  return { method, path, headers: pairs as ApiRequest['headers'], ...(body !== undefined && { body }) }
}

/** True when a version is in the requested range; `latest`, `*` and an absent header mean any version. */
function isRequested(version: string, range: string | undefined): boolean {
  if (range === undefined || range === 'latest' || range === '*' || range === '') return true
  return range.length <= 100 && semver.satisfies(version, range)
}
