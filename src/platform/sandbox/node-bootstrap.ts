/**
 * The first thing that runs in a process of a program in JavaScript: it loads the program's module, and brings calls to
 * it and its answers back over file descriptor 3. Whatever it says is material for the host to judge: the program
 * shares this process and may say the same. It imports nothing of ours, since it is started by itself.
 */
import { Socket } from 'node:net'
import { inspect } from 'node:util'
import { getHeapStatistics } from 'node:v8'

/** What a program's module gives: `start`, once, and what that gives for each call. */
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
/** calls that are open, with what their signal is made by as soon as they look at it */
const open = new Map<number, AbortController | undefined>()
const cancelled = new Set<number>()
const questions = new Map<number, { resolve(value: unknown): void; reject(error: Error): void }>()
let lastQuestion = 0
let handle: Handle | undefined
let said = ''

/** What is said in one turn goes out at once. */
function say(value: object): void {
  if (said === '') setImmediate(flush)
  said += `${stringify(value)}\n`
}

function flush(): void {
  const text = said
  said = ''
  channel.write(text)
}

const host: HostSide = {
  ask: (method, params) =>
    new Promise((resolve, reject) => {
      const ask = ++lastQuestion
      questions.set(ask, { resolve, reject })
      say({ ask, method, params })
    }),
  log: (log, text) => say({ log, text }),
}

for (const level of ['debug', 'log', 'info', 'warn', 'error', 'trace'] as const) {
  // oxlint-disable-next-line no-console -- what a program prints is its log
  console[level] = (...values: unknown[]) => {
    const text = values.map((value) => (typeof value === 'string' ? value : inspect(value))).join(' ')
    host.log(level === 'log' ? 'info' : level === 'trace' ? 'debug' : level, text)
  }
}

const { memoryUsage } = process

/** The file with the memory of a process is not shown in the fence; the heap is known without it, and the peak of the rest. */
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
    say({ ready: true })
  } catch (error) {
    say({ failed: textOf(error) })
  }
}

function call({ call: answer = 0, method = '', params }: Order): void {
  let abort: AbortController | undefined
  open.set(answer, undefined)
  const side: CallSide = {
    // few look at it, and to make one costs more than a call
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
      say({ answer, ...outcome })
    } catch (error) {
      say({ answer, error: `its answer is not JSON: ${textOf(error)}` })
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
  else if (order.ping !== undefined) say({ pong: order.ping })
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
    return 'it threw what cannot be told'
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
