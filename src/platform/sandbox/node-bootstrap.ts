/**
 * Entry point of a JavaScript program's process, started alone; the host must not trust its channel, file descriptor 3.
 */
import { Socket } from 'node:net'
import { inspect } from 'node:util'
import { getHeapStatistics } from 'node:v8'

/** Exports of a program's module: `start` runs once and returns the call handler. */
interface ProgramModule {
  start(argument: unknown, host: HostSide): Handle | Promise<Handle>
}
type Handle = (method: string, params: unknown, call: CallSide) => unknown
interface HostSide {
  ask(method: string, params: unknown): Promise<unknown>
  log(level: string, text: string): void
}
interface CallSide {
  readonly signal: AbortSignal
}
interface Order {
  readonly start?: { readonly module: string; readonly argument: unknown }
  readonly call?: number
  readonly method?: string
  readonly params?: unknown
  readonly cancel?: number
  readonly ping?: number
  readonly reply?: number
  readonly value?: unknown
  readonly error?: string
}

const { parse, stringify } = JSON
const channel = new Socket({ fd: 3, readable: true, writable: true })
/** Open calls, each with the controller of its signal once that was read */
const open = new Map<number, AbortController | undefined>()
const cancelled = new Set<number>()
const questions = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
let lastQuestion = 0
let handle: Handle | undefined
let pending = ''

function send(value: object): void {
  if (pending === '') setImmediate(flush)
  pending += `${stringify(value)}\n`
}

function flush(): void {
  const text = pending
  pending = ''
  channel.write(text)
}

const host: HostSide = {
  ask: (method, params) =>
    new Promise((resolve, reject) => {
      const ask = ++lastQuestion
      questions.set(ask, { resolve, reject })
      send({ ask, method, params })
    }),
  log: (log, text) => send({ log, text }),
}

for (const level of ['debug', 'log', 'info', 'warn', 'error', 'trace'] as const) {
  // oxlint-disable-next-line no-console -- what a program prints is its log
  console[level] = (...values: unknown[]) => {
    const text = values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' ')
    host.log(level === 'log' ? 'info' : level === 'trace' ? 'debug' : level, text)
  }
}

const { memoryUsage } = process

/** The sandbox hides the file with this figure; without it the heap is exact, the rest a peak. */
function memoryInUse(): NodeJS.MemoryUsage {
  try {
    return memoryUsage()
  } catch {
    const { total_heap_size: heapTotal, used_heap_size: heapUsed, external_memory: external } = getHeapStatistics()
    return { rss: process.resourceUsage().maxRSS * 1_024, heapTotal, heapUsed, external, arrayBuffers: 0 }
  }
}
process.memoryUsage = Object.assign(memoryInUse, { rss: () => memoryInUse().rss })

async function start({ module, argument }: NonNullable<Order['start']>): Promise<void> {
  try {
    const loaded = (await import(module)) as ProgramModule
    handle = await loaded.start(argument, host)
    send({ ready: true })
  } catch (error) {
    send({ failed: textOf(error) })
  }
}

function call({ call: answer = 0, method = '', params }: Order): void {
  let abort: AbortController | undefined
  open.set(answer, undefined)
  const side: CallSide = {
    // created only when read, since a signal costs more than a call and is rarely used
    get signal() {
      if (abort === undefined) {
        abort = new AbortController()
        if (open.has(answer)) open.set(answer, abort)
        if (cancelled.has(answer)) abort.abort()
      }
      return abort.signal
    },
  }
  const end = (outcome: object): void => {
    open.delete(answer)
    cancelled.delete(answer)
    try {
      send({ answer, ...outcome })
    } catch (error) {
      send({ answer, error: `its answer is not valid JSON: ${textOf(error)}` })
    }
  }
  try {
    const value = handle?.(method, params, side)
    if (typeof (value as PromiseLike<unknown> | undefined)?.then !== 'function') return end({ value })
    ;(value as PromiseLike<unknown>).then(
      (settled) => end({ value: settled }),
      (error: unknown) => end({ error: textOf(error) }),
    )
  } catch (error) {
    end({ error: textOf(error) })
  }
}

function take(order: Order): void {
  if (order.start !== undefined) void start(order.start)
  else if (order.call !== undefined) call(order)
  else if (order.ping !== undefined) send({ pong: order.ping })
  else if (order.cancel !== undefined) cancel(order.cancel)
  else if (order.reply !== undefined) {
    const question = questions.get(order.reply)
    questions.delete(order.reply)
    if (order.error === undefined) question?.resolve(order.value)
    else question?.reject(new Error(order.error))
  }
}

function cancel(call: number): void {
  if (!open.has(call)) return
  cancelled.add(call)
  open.get(call)?.abort()
}

function textOf(error: unknown): string {
  try {
    if (!(error instanceof Error)) return String(error)
    return error.message === '' ? error.name : error.message
  } catch {
    return 'it threw an unprintable value'
  }
}

let rest = ''
channel.setEncoding('utf8')
channel.on('data', (piece: string) => {
  const lines = (rest + piece).split('\n')
  rest = lines.pop() ?? ''
  for (const line of lines) take(parse(line) as Order)
})
channel.on('error', () => process.exit(1))
channel.on('close', () => process.exit(0))
