/** The webscripts service put together: addresses, calls, and what is kept of them. */
import {
  AppError,
  type Caller,
  decodedText,
  isPlainObject,
  type Led,
  LruCache,
  messageOf,
  type StartTimer,
  TransientMap,
} from '#kernel'
import {
  type ApiAnswer,
  type ApiRequest,
  type DeployedWebscript,
  type FunctionLine,
  type OperatedFunctions,
  PIECE_BYTES,
  type WebCallParams,
  type WebHead,
} from '#services/functions/contract'
import semver from 'semver'
import { type AdmissionOptions, admit as letIn, noWebscript } from './admission.ts'
import { headOf } from './answer-head.ts'
import type {
  Admitted,
  LogLevel,
  ScriptAddress,
  ScriptAnswer,
  ScriptLogQuery,
  ScriptRequest,
  ShownCredentials,
  WebscriptsApi,
  WebscriptsService,
} from './contract.ts'
import { Management } from './manage.ts'
import { OpenCall, type OpenCallOptions } from './open-call.ts'
import { ScriptFigures } from './script-figures.ts'
import { ScriptLog } from './script-log.ts'
import { type CallLimits, TenantCalls } from './tenant-calls.ts'

export interface WebscriptsOptions extends AdmissionOptions {
  /** those of a tenant; undefined: the host has none of it, or serves none */
  readonly functions: (tenant: string) => OperatedFunctions | undefined
  /** Whose webscript has that id. */
  readonly webscriptOf: (id: string) => { readonly tenant: string; readonly name: string } | undefined
  /** Asks the API of this host as a tenant; `led`: by which rules. */
  readonly askApi: (
    caller: Caller,
    request: ApiRequest,
    signal: AbortSignal,
    led: Led | undefined,
  ) => Promise<ApiAnswer>
  readonly limits: Pick<CallLimits, 'takeCall' | 'mostOpen' | 'cpu'>
  /** epoch ms */
  readonly now: () => number
  /** ms of a clock that never goes back */
  readonly clock: () => number
  readonly later: StartTimer
  /** never the same twice */
  readonly newId: () => string
}

export function createWebscriptsService(options: WebscriptsOptions): WebscriptsService {
  return new Webscripts(options)
}

const MAX_FIGURES = 10_000
/** Browsers would store them for the API too (WEBSCRIPT-6). */
const NOT_ON_API_ORIGIN: ReadonlySet<string> = new Set(['set-cookie', 'www-authenticate'])
const WHY_REMOVED =
  'on the origin of the API browsers would apply it to the API too; --webscript-url sets up another origin'

class Webscripts implements WebscriptsService {
  readonly #options: WebscriptsOptions
  readonly #calls = new TransientMap<string, OpenCall>()
  readonly #figures = new LruCache<string, ScriptFigures>(MAX_FIGURES)
  readonly #log = new ScriptLog()
  readonly #quota: TenantCalls
  /** functions whose lines are kept */
  readonly #heard = new WeakSet<OperatedFunctions>()
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
      if (this.#versionsOf({ tenant, name }).length === 0) throw noWebscript()
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
      tail: (name, query: ScriptLogQuery & { readonly signal: AbortSignal }) => this.#log.tail(known(name), query),
      metrics: async (name) => this.#figuresOf(known(name)).metrics,
    }
  }

  find(address: string): ScriptAddress | undefined {
    const [first = '', second = '', ...rest] = address.split('/')
    const owner = this.#options.webscriptOf(decodedText(first))
    if (owner !== undefined) return { ...owner, path: pathOf(address, first) }
    const [tenant, name] = [decodedText(first), decodedText(second)]
    if (this.#versionsOf({ tenant, name }).length === 0) return undefined
    return { tenant, name, path: rest.length === 0 ? '/' : pathOf(address, `${first}/${second}`) }
  }

  choose(address: Pick<ScriptAddress, 'tenant' | 'name'>, version?: string): DeployedWebscript | undefined {
    const versions = this.#versionsOf(address)
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

  #secretsOf(script: DeployedWebscript): readonly string[] {
    if (script.secret === undefined) return []
    const others = this.#versionsOf(script).filter((one) => !one.draft && one.isRunning)
    return [script.secret, ...others.flatMap((one) => one.secret ?? [])]
  }

  #versionsOf({ tenant, name }: Pick<ScriptAddress, 'tenant' | 'name'>): readonly DeployedWebscript[] {
    return this.#functions(tenant)?.webscripts(tenant, name) ?? []
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
    const key = scriptKey(tenant, name)
    const { body, led, signal } = request
    const shown = new ShownCall(this.#options, this.#log, this.#figuresOf(key), { script, key, request, requestId })
    this.#total++
    return new Promise((resolve, reject) => {
      const begun: OpenCallOptions['begun'] = (head, pieces) => {
        shown.began(head.status)
        resolve({ ...shown.allowed(head), body: pieces, requestId })
      }
      const call = new OpenCall({ owner: key, body, led, later: this.#options.later, begun })
      this.#calls.set(requestId, call)
      const options = { signal, timer: call.timer, onStart: () => shown.started() }
      const answered = functions.callWebscript(tenant, name, version, paramsOf(requestId, request), options)
      const over = (): void => {
        this.#calls.delete(requestId)
        release()
        shown.end()
      }
      this.#finished(call, answered, shown, over).then(
        (answer) => answer && resolve({ ...answer, requestId }),
        (error: unknown) => reject(error),
      )
    })
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

  /** The answer as a whole; undefined when it went out in pieces, whose reader hears by them of a failure. */
  async #finished(
    call: OpenCall,
    answered: Promise<unknown>,
    shown: ShownCall,
    over: () => void,
  ): Promise<Omit<ScriptAnswer, 'requestId'> | undefined> {
    try {
      const answer = await answered
      if (!call.hasBegun) return wholeAnswer(answer, shown)
      call.end()
    } catch (error) {
      this.#errors++
      shown.failed(error)
      if (!call.hasBegun) throw error
      call.end(error as Error)
    } finally {
      if (call.hasBegun) shown.sent(call.sent)
      over()
    }
    return undefined
  }

  /** By which rules: a script does not tell which of its open calls it asks for, and the longest chain ends a loop. */
  #ledOf(owner: string): Led | undefined {
    let longest: Led | undefined
    for (const call of this.#calls.values()) {
      if (call.owner === owner && call.led !== undefined && call.led.hops > (longest?.hops ?? -1)) longest = call.led
    }
    return longest
  }

  #functions(tenant: string): OperatedFunctions | undefined {
    const functions = this.#options.functions(tenant)
    if (functions !== undefined && !this.#heard.has(functions)) {
      this.#heard.add(functions)
      functions.onLine((line) => this.#said(line))
    }
    return functions
  }

  #said({ tenant, type, name, version, time, level, text }: FunctionLine): void {
    if (type !== 'webscripts') return
    this.#log.add(scriptKey(tenant, name), {
      time,
      level: level as LogLevel,
      kind: 'console',
      message: text,
      version,
    })
  }

  #figuresOf(key: string): ScriptFigures {
    const known = this.#figures.get(key)
    if (known !== undefined) return known
    const figures = new ScriptFigures()
    this.#figures.set(key, figures)
    return figures
  }
}

function wholeAnswer(answer: unknown, shown: ShownCall): Omit<ScriptAnswer, 'requestId'> {
  if (!isPlainObject(answer)) throw new AppError('PLUG_FAILED', 'it gave no answer', { cause: 'answer' })
  const head = headOf(answer)
  const { text, bytes } = answer
  const body = typeof bytes === 'string' ? Buffer.from(bytes, 'base64') : typeof text === 'string' ? text : ''
  shown.began(head.status)
  shown.sent(Buffer.byteLength(body))
  return { ...shown.allowed(head), body }
}

interface CallFacts {
  readonly script: DeployedWebscript
  /** of all its versions */
  readonly key: string
  readonly request: ScriptRequest
  readonly requestId: string
}

/** What is written and counted of one call. */
class ShownCall {
  readonly #options: Pick<WebscriptsOptions, 'now' | 'clock'>
  readonly #log: ScriptLog
  readonly #figures: ScriptFigures
  readonly #facts: CallFacts
  readonly #begin: number
  #status = 0
  #bytes = 0

  constructor(
    options: Pick<WebscriptsOptions, 'now' | 'clock'>,
    log: ScriptLog,
    figures: ScriptFigures,
    facts: CallFacts,
  ) {
    this.#options = options
    this.#log = log
    this.#figures = figures
    this.#facts = facts
    this.#begin = options.clock()
    const { request } = facts
    figures.open++
    figures.bytesIn += request.body.length
    // a query may hold what nobody should read
    this.#say('info', 'request', `${request.method} ${request.path} (${request.body.length} bytes)`)
  }

  started(): void {
    this.#figures.coldStarts++
  }

  began(status: number): void {
    this.#status = status
    this.#figures.answered(this.#options.clock() - this.#begin)
    if (status >= 500) this.#figures.errors++
  }

  /** Without what is not allowed on the origin of the API; the log reports what was removed. */
  allowed(head: WebHead): WebHead {
    if (this.#facts.request.isOnApiOrigin !== true) return head
    const removed = head.headers.flatMap(([name]) => (NOT_ON_API_ORIGIN.has(name) ? [name] : []))
    if (removed.length === 0) return head
    const named = [...new Set(removed)].join(' and ')
    this.#say('warn', 'response', `${named} removed from the answer: ${WHY_REMOVED}`)
    return { ...head, headers: head.headers.filter(([name]) => !NOT_ON_API_ORIGIN.has(name)) }
  }

  sent(bytes: number): void {
    this.#bytes = bytes
    this.#figures.bytesOut += bytes
  }

  failed(error: unknown): void {
    if (this.#status === 0) {
      this.#figures.answered(this.#options.clock() - this.#begin)
      this.#figures.errors++
    }
    this.#say('error', 'response', messageOf(error))
  }

  end(): void {
    this.#figures.open--
    if (this.#status === 0) return
    const ms = Math.round(this.#options.clock() - this.#begin)
    const level = this.#status >= 500 ? 'error' : this.#status >= 400 ? 'warn' : 'info'
    this.#say(level, 'response', `${this.#status} after ${ms} ms (${this.#bytes} bytes)`)
  }

  #say(level: LogLevel, kind: 'request' | 'response', message: string): void {
    const { script, key, requestId } = this.#facts
    const { version } = script
    this.#log.add(key, { time: this.#options.now(), level, kind, message, version, requestId })
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
