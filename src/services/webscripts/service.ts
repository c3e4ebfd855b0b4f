/** The webscripts service put together: addresses, calls, and what is kept of them. */
import { AppError, type Caller, decodedText, isPlainObject, type Causation, LruCache, TransientMap } from '#kernel'
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
import { type AdmissionOptions, admit as letIn, noWebscript } from './admission.ts'
import type {
  Admitted,
  ScriptAddress,
  ScriptAnswer,
  ScriptRequest,
  ShownCredentials,
  WebscriptsApi,
  WebscriptsService,
} from './contract.ts'
import { Management } from './manage.ts'
import { type CallTimes, OpenCall } from './open-call.ts'
import { ScriptFigures } from './script-figures.ts'
import { ScriptLog } from './script-log.ts'
import { type CallLimits, TenantCalls } from './tenant-calls.ts'
import type { LogLevel } from './webscript-schema.ts'

export interface WebscriptsOptions extends AdmissionOptions, CallTimes {
  /** functions of a tenant; undefined: the host does not have the tenant, or serves no functions */
  readonly functions: (tenant: string) => InternalFunctions | undefined
  /** Whose webscript has that id. */
  readonly webscriptOf: (id: string) => { readonly tenant: string; readonly name: string } | undefined
  /** Asks the API of this host as a tenant; `led`: by which rules. */
  readonly askApi: (
    caller: Caller,
    request: ApiRequest,
    signal: AbortSignal,
    led: Causation | undefined,
  ) => Promise<ApiAnswer>
  readonly limits: Pick<CallLimits, 'takeCall' | 'mostOpen' | 'cpu'>
  /** never the same twice */
  readonly newId: () => string
}

export function createWebscriptsService(options: WebscriptsOptions): WebscriptsService {
  return new Webscripts(options)
}

const MAX_FIGURES = 10_000
class Webscripts implements WebscriptsService {
  readonly #options: WebscriptsOptions
  readonly #calls = new TransientMap<string, OpenCall>()
  readonly #figures = new LruCache<string, ScriptFigures>(MAX_FIGURES)
  readonly #log = new ScriptLog()
  readonly #quota: TenantCalls
  /** functions whose lines are kept */
  readonly #heard = new WeakSet<InternalFunctions>()
  #total = 0
  #errors = 0

  constructor(options: WebscriptsOptions) {
    this.#options = options
    const { limits, clock } = options
    this.#quota = new TenantCalls({ ...limits, clock, cpuMs: (tenant) => this.#functions(tenant)?.cpuMs(tenant) ?? 0 })
  }

  as(caller: Caller): WebscriptsApi {
    const { tenant } = caller
    const management = (): Management => {
      const functions = this.#functions(tenant)
      if (functions === undefined) throw new AppError('CLOSED', 'this host serves no functions')
      return new Management(functions.as(caller, 'webscripts'), (name) => functions.webscripts(tenant, name))
    }
    const known = (name: string): string => {
      if (this.#versions(tenant, name).length === 0) throw noWebscript()
      return scriptKey(tenant, name)
    }
    return {
      list: async () => management().list(),
      get: async (name, version) => management().get(name, version),
      create: async (body) => management().create(body),
      replace: async (name, body, version) => management().replace(name, body, version),
      remove: async (name, version) => management().remove(name, version),
      operation: async (id) => management().operation(id),
      log: async (name, query = {}) => this.#log.page(known(name), query),
      tail: (name, query) => this.#log.tail(known(name), query),
      metrics: async (name) => this.#figuresOf(known(name)).metrics,
    }
  }

  find(address: string): ScriptAddress | undefined {
    const [first = '', second = '', ...rest] = address.split('/')
    const owner = this.#options.webscriptOf(decodedText(first))
    if (owner !== undefined) return { ...owner, path: pathOf(address, first) }
    const [tenant, name] = [decodedText(first), decodedText(second)]
    if (this.#versions(tenant, name).length === 0) return undefined
    return { tenant, name, path: rest.length === 0 ? '/' : pathOf(address, `${first}/${second}`) }
  }

  choose({ tenant, name }: Pick<ScriptAddress, 'tenant' | 'name'>, version?: string): DeployedWebscript | undefined {
    const versions = this.#versions(tenant, name)
    const exact = versions.find((one) => one.version === version)
    if (exact !== undefined) return exact
    const published = versions.filter((one) => !one.draft && fits(one.version, version))
    return (
      published.find((one) => one.isRunning && !one.deprecated) ??
      published.find((one) => one.isRunning) ??
      published[0]
    )
  }

  authenticate(script: DeployedWebscript | undefined, shown: ShownCredentials): Promise<Admitted> {
    // a public one takes everybody
    return letIn(script, script?.isPrivate === true ? this.#secretsOf(script) : [], shown, this.#options)
  }

  #secretsOf({ tenant, name, secret }: DeployedWebscript): readonly string[] {
    if (secret === undefined) return []
    const others = this.#versions(tenant, name).filter((one) => !one.draft && one.isRunning)
    return [secret, ...others.flatMap((one) => one.secret ?? [])]
  }

  admit({ tenant }: Pick<DeployedWebscript, 'tenant'>): void {
    this.#quota.admit(tenant)
  }

  async call(script: DeployedWebscript, request: ScriptRequest): Promise<ScriptAnswer> {
    const { tenant, name, version } = script
    const functions = this.#functions(tenant)
    if (functions === undefined || !script.isRunning) {
      throw new AppError('CLOSED', `The webscript is not running: its status is ${script.status}`)
    }
    const release = this.#quota.begin(tenant)
    const requestId = this.#options.newId()
    const owner = scriptKey(tenant, name)
    const [log, figures] = [this.#log, this.#figuresOf(owner)]
    const call = new OpenCall(this.#options, { requestId, owner, version, request, log, figures })
    this.#total++
    this.#calls.set(requestId, call)
    const options = { signal: request.signal, timer: call.timer, onStart: () => void figures.coldStarts++ }
    const answered = functions.callWebscript(tenant, name, version, paramsOf(requestId, request), options)
    void this.#finish(call, answered, () => {
      this.#calls.delete(requestId)
      release()
      call.end()
    })
    return call.answer
  }

  async answer(
    { tenant, name }: Pick<DeployedWebscript, 'tenant' | 'name'>,
    question: string,
    params: unknown,
    signal: AbortSignal,
  ): Promise<unknown> {
    if (!isPlainObject(params)) throw new AppError('PLUG_FAILED', 'a question has parameters')
    if (question === 'api') {
      const led = this.#ledOf(scriptKey(tenant, name))
      return this.#options.askApi({ tenant, user: `webscripts/${name}` }, requestOf(params), signal, led)
    }
    const call = this.#calls.get(String(params['id']))
    // those of others are not found
    if (call === undefined || call.owner !== scriptKey(tenant, name))
      throw new AppError('PLUG_FAILED', 'that call is not open')
    if (question === 'web.read') return call.read(params['offset'])
    if (question === 'web.head') return call.begin(params)
    if (question === 'web.write') return call.write(params)
    throw new AppError('PLUG_FAILED', 'there is no such question to the host')
  }

  gauges(): ReturnType<WebscriptsService['gauges']> {
    return { open: this.#calls.size, calls: this.#total, errors: this.#errors }
  }

  stop(): void {
    this.#log.end()
  }

  async #finish(call: OpenCall, answered: Promise<unknown>, over: () => void): Promise<void> {
    try {
      call.finish(await answered)
    } catch (error) {
      this.#errors++
      call.fail(error)
    } finally {
      over()
    }
  }

  /** By which rules: a script does not tell which of its open calls it asks for, and the longest chain ends a loop. */
  #ledOf(owner: string): Causation | undefined {
    let longest: Causation | undefined
    for (const call of this.#calls.values()) {
      if (call.owner === owner && call.led !== undefined && call.led.hops > (longest?.hops ?? -1)) longest = call.led
    }
    return longest
  }

  #versions(tenant: string, name: string): readonly DeployedWebscript[] {
    return this.#functions(tenant)?.webscripts(tenant, name) ?? []
  }

  #functions(tenant: string): InternalFunctions | undefined {
    const functions = this.#options.functions(tenant)
    if (functions !== undefined && !this.#heard.has(functions)) {
      this.#heard.add(functions)
      functions.onLine((line) => this.#said(line))
    }
    return functions
  }

  #said({ tenant, type, name, version, time, level, text }: FunctionLine): void {
    if (type !== 'webscripts') return
    const line = { time, level: level as LogLevel, kind: 'console', message: text, version } as const
    this.#log.add(scriptKey(tenant, name), line)
  }

  #figuresOf(key: string): ScriptFigures {
    const known = this.#figures.get(key)
    if (known !== undefined) return known
    const figures = new ScriptFigures()
    this.#figures.set(key, figures)
    return figures
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
  const areGood = pairs.every(
    (pair) => Array.isArray(pair) && pair.length === 2 && pair.every((one) => typeof one === 'string'),
  )
  if (typeof method !== 'string' || typeof path !== 'string' || !areGood) {
    throw new AppError('PLUG_FAILED', 'a request to the API has a method, a path and headers')
  }
  if (body !== undefined && typeof body !== 'string') throw new AppError('PLUG_FAILED', 'a body is text')
  return { method, path, headers: pairs as ApiRequest['headers'], ...(body !== undefined && { body }) }
}

function scriptKey(tenant: string, name: string): string {
  return `${tenant}/${name}`
}

function pathOf(address: string, first: string): string {
  const path = address.slice(first.length)
  return path === '' ? '/' : path
}

/** Whether a published version is among those that the header asks for; nothing, `latest` and `*` mean any. */
function fits(version: string, asked: string | undefined): boolean {
  if (asked === undefined || asked === 'latest' || asked === '*' || asked === '') return true
  return asked.length <= 100 && semver.satisfies(version, asked)
}
