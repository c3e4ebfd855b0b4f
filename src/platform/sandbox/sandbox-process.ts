/**
 * Runs the process of an untrusted program: starts it, calls it, and ends it when it exceeds a limit.
 *
 * SANDPROC-1 the process may only send answers to open calls, questions, and log lines; anything else ends it
 * SANDPROC-2 every call settles: with its answer, at its time limit, or when the process ends
 * SANDPROC-3 an overdue call ends alone; the process ends if it then does not answer a ping
 * SANDPROC-4 what a process writes, asks and keeps open is bounded, however fast the process is
 * SANDPROC-5 secrets of the program, written literally, never appear in its log lines and errors
 * SANDPROC-6 child processes count as part of the process: together they share its memory limit, and they end with the
 *   calls that started them
 */
import { spawn, type ChildProcess } from 'node:child_process'
import type { Duplex, Readable } from 'node:stream'
import {
  AppError,
  type CancelSignal,
  isPlainObject,
  messageOf,
  redacting,
  Deadline,
  type StartTimer,
  TransientMap,
} from '#kernel'
import { JsonLines } from './json-lines.ts'
import type { ProgramLaunch } from './launch.ts'
import type { ProcessLimits } from './limits.ts'
import { LogGate } from './log-gate.ts'
import { OverdueCalls } from './overdue-calls.ts'
import { ProcessGroup } from './process-group.ts'
import type { AnswerQuestion, Program, ProgramLine } from './program.ts'

export interface ProcessOptions {
  readonly launch: ProgramLaunch
  readonly program: Pick<Program, 'language' | 'module' | 'argument' | 'secrets'>
  readonly limits: ProcessLimits
  readonly answer: AnswerQuestion
  readonly log: (line: ProgramLine) => void
  readonly later: StartTimer
  /** Returns monotonic ms */
  readonly clock: () => number
  readonly answers: () => void
}

export interface CallOptions {
  /** Time limit in ms; default and maximum: the limit of calls */
  readonly timeMs?: number | undefined
  readonly signal?: CancelSignal | undefined
  readonly timer?: Deadline | undefined
}

/** Why a call failed, as the `cause` of its error. */
export type CallFailure = 'answered' | 'overdue' | 'ended' | 'held back'

interface OpenCall {
  readonly since: number
  resolve(value: unknown): void
  reject(error: AppError): void
  callOff(): void
}

const MESSAGE_LENGTH = 2_000
const LEVELS: ReadonlySet<unknown> = new Set(['debug', 'info', 'warn', 'error'])

export class SandboxProcess {
  readonly ready: Promise<void>
  isReady = false
  readonly ended: Promise<string>
  readonly #options: ProcessOptions
  readonly #child: ChildProcess
  readonly #channel: Duplex
  readonly #calls = new TransientMap<number, OpenCall>()
  readonly #questions = new Set<AbortController>()
  readonly #log: LogGate
  readonly #redact: (text: string) => string
  #lastCall = 0
  #unanswered = 0
  #output = 0
  #why: string | undefined
  #settleReady: { resolve(): void; reject(error: AppError): void } | undefined
  #outgoing = ''
  readonly #group: ProcessGroup
  readonly #overdue: OverdueCalls

  constructor(options: ProcessOptions) {
    this.#options = options
    const { launch, program, limits, later, log, clock } = options
    this.#log = new LogGate(limits.logLines, clock, log)
    this.#redact = redacting(program.secrets ?? [])
    this.#child = spawn(launch.command, launch.args, {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'pipe', 'pipe', 'pipe'],
      // separate process group, so that terminal signals reach only the host
      detached: true,
    })
    this.#group = new ProcessGroup({
      pid: this.#child.pid ?? 0,
      alone: launch.alone,
      memoryMib: limits.memoryMib,
      later,
      clock,
      isAtWork: () => !this.isReady || this.#calls.size > 0,
      end: (why) => this.end(why),
      log: (text) => this.#logLine('warn', text),
    })
    // Node's permissions forbid a program to start child processes
    if (program.language !== 'node') this.#group.watch()
    this.#overdue = new OverdueCalls({
      pingMs: limits.pingMs,
      later,
      send: (order) => this.#send(order),
      end: (why) => this.end(why),
      answers: options.answers,
    })
    // entry 3 is the socket pair that carries calls and answers
    this.#channel = this.#child.stdio[3] as Duplex
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }))
    // callers that do not await `ready` get the error from their call
    this.ready.catch(() => undefined)
    this.ended = new Promise((resolve) => this.#watch(resolve))
    const lines = new JsonLines(limits.lineBytes, (value) => this.#receive(value))
    this.#channel.setEncoding('utf8')
    this.#channel.on('data', (piece: string) => this.#read(lines, piece))
    const callOff = later(limits.startMs, () => this.end(`it was not ready within ${limits.startMs} ms`))
    void this.ready.then(callOff, callOff)
    this.#send({ start: { module: program.module, argument: program.argument } })
  }

  get open(): number {
    return this.#calls.size
  }

  /** Time in ms since the start of the oldest open call; 0 if none is open. */
  get waitingMs(): number {
    for (const { since } of this.#calls.values()) return this.#options.clock() - since
    return 0
  }

  get isOver(): boolean {
    return this.#why !== undefined
  }

  get isInDoubt(): boolean {
    return this.#overdue.isPinging
  }

  get cpuMs(): number {
    return this.#group.cpuMs
  }

  /** Calls the program and returns the answer; the process must be ready. Rejects with `PLUG_FAILED` or `TOO_LARGE`. */
  call(
    method: string,
    params: unknown,
    { timeMs, signal, timer = new Deadline() }: CallOptions = {},
  ): Promise<unknown> {
    const { limits, later, clock } = this.#options
    if (this.#why !== undefined) return Promise.reject(failed(this.#why))
    const call = ++this.#lastCall
    const text = JSON.stringify({ call, method, params })
    if (text.length > limits.lineBytes) {
      const sizes = `${text.length} characters exceed the limit of ${limits.lineBytes}`
      return Promise.reject(new AppError('TOO_LARGE', `the input of the call is too large: ${sizes}`))
    }
    const ms = Math.min(timeMs ?? limits.callMs, limits.callMs)
    return new Promise((resolve, reject) => {
      timer.begin(later, ms, () => this.#giveUp(call, ms))
      const cancel = (): void => this.#send({ cancel: call })
      signal?.addEventListener('abort', cancel, { once: true })
      const callOff = (): void => {
        timer.end()
        signal?.removeEventListener('abort', cancel)
      }
      this.#calls.set(call, { since: clock(), resolve, reject, callOff })
      this.#sendText(text)
    })
  }

  end(why: string): void {
    if (this.#why !== undefined) return
    this.#why = why
    this.isReady = false
    // count now, while the process still exists
    this.#group.countCpu()
    this.#group.stop()
    this.#overdue.stop()
    const error = failed(why)
    this.#settleReady?.reject(error)
    for (const call of this.#calls.values()) {
      call.callOff()
      call.reject(error)
    }
    this.#calls.clear()
    for (const question of this.#questions) question.abort()
    this.#questions.clear()
    this.#channel.destroy()
    this.#child.stdout?.destroy()
    this.#child.stderr?.destroy()
    this.#kill()
  }

  #kill(): void {
    const { pid } = this.#child
    if (pid === undefined || this.#child.exitCode !== null || this.#child.signalCode !== null) return
    try {
      process.kill(-pid, 'SIGKILL')
    } catch {
      this.#child.kill('SIGKILL')
    }
  }

  #watch(over: (why: string) => void): void {
    this.#child.on('error', (error) => {
      this.end(`it could not be started: ${error.message}`)
      over(this.#why ?? '')
    })
    this.#child.on('exit', (code, signal) => {
      // the process's last output may still be in flight
      setImmediate(() => {
        this.end(code === null ? `it was killed by ${signal}` : `it exited with code ${code}`)
        this.#log.end()
        over(this.#why ?? '')
      })
    })
    this.#channel.on('error', () => undefined)
    this.#listen(this.#child.stdout, 'info')
    this.#listen(this.#child.stderr, 'error')
  }

  #listen(stream: Readable | null, level: ProgramLine['level']): void {
    stream?.setEncoding('utf8')
    stream?.on('error', () => undefined)
    stream?.on('data', (piece: string) => {
      this.#output += piece.length
      for (const text of piece.split('\n')) if (text.trim() !== '') this.#logLine(level, this.#textOf(text))
      const { outputBytes } = this.#options.limits
      if (this.#output > outputBytes) this.end(`it printed more than ${outputBytes} bytes`)
    })
  }

  #read(lines: JsonLines, piece: string): void {
    this.#unanswered += piece.length
    try {
      lines.push(piece)
    } catch (error) {
      return this.end(`it violated the protocol: ${this.#textOf(messageOf(error))}`)
    }
    const { unansweredBytes } = this.#options.limits
    if (this.#unanswered > unansweredBytes)
      this.end(`it sent more than ${unansweredBytes} bytes without waiting for responses`)
  }

  #receive(message: unknown): void {
    if (this.#why !== undefined) return
    if (!isPlainObject(message)) return this.end('it violated the protocol: its message is not an object')
    const { answer, ask, log, pong, ready, failed: failure } = message
    if (typeof answer === 'number') this.#answered(answer, message)
    else if (typeof ask === 'number') this.#answerQuestion(ask, message)
    else if (typeof pong === 'number') {
      if (!this.#overdue.ponged(pong)) this.end('it violated the protocol: it responded to an unknown ping')
    } else if (LEVELS.has(log)) this.#logLine(log as ProgramLine['level'], this.#textOf(message['text']))
    else if (this.#settleReady !== undefined && ready === true) {
      this.isReady = true
      this.#group.started()
      this.#settleReady.resolve()
      this.#settleReady = undefined
      this.#unanswered = 0
    } else if (this.#settleReady !== undefined && typeof failure === 'string') {
      this.end(`it did not start: ${this.#textOf(failure)}`)
    } else this.end('it violated the protocol: it sent an unexpected message')
  }

  #answered(number: number, { value, error }: Readonly<Record<string, unknown>>): void {
    const call = this.#calls.get(number)
    if (call === undefined && !this.#overdue.answered(number))
      return this.end('it violated the protocol: it responded to an unknown call')
    this.#unanswered = 0
    this.#output = 0
    if (call === undefined) return
    this.#calls.delete(number)
    call.callOff()
    if (error === undefined) call.resolve(value)
    else call.reject(failed(this.#textOf(error), 'answered'))
  }

  #answerQuestion(reply: number, { method, params }: Readonly<Record<string, unknown>>): void {
    const { answer, limits, later } = this.#options
    if (this.#calls.size === 0) return this.#send({ reply, error: 'questions are only allowed during a call' })
    if (this.#questions.size >= limits.questions) {
      return this.#send({ reply, error: `too many open questions to the host; the limit is ${limits.questions}` })
    }
    const abort = new AbortController()
    this.#questions.add(abort)
    const settle = (outcome: object): void => {
      if (!this.#questions.delete(abort)) return
      callOff()
      // an answered question counts as progress, just as an answered call does
      this.#unanswered = 0
      this.#reply(reply, outcome)
    }
    const callOff = later(limits.callMs, () => {
      settle({ error: `the host did not respond within ${limits.callMs} ms` })
      abort.abort()
    })
    answer(String(method), params, abort.signal).then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error: messageOf(error) }),
    )
  }

  #reply(reply: number, outcome: object): void {
    const text = JSON.stringify({ reply, ...outcome })
    if (text.length > this.#options.limits.lineBytes) this.#send({ reply, error: 'the response is too long' })
    else this.#sendText(text)
  }

  #giveUp(number: number, ms: number): void {
    const call = this.#calls.get(number)
    if (call === undefined) return
    this.#calls.delete(number)
    call.callOff()
    call.reject(failed(`it did not respond within ${ms} ms`, 'overdue'))
    this.#overdue.add(number, ms)
  }

  #logLine(level: ProgramLine['level'], text: string): void {
    this.#log.add({ level, text })
  }

  #textOf(value: unknown): string {
    return this.#redact(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MESSAGE_LENGTH)
  }

  #send(value: object): void {
    this.#sendText(JSON.stringify(value))
  }

  #sendText(text: string): void {
    if (this.#why !== undefined) return
    if (this.#outgoing === '') {
      setImmediate(() => {
        const outgoing = this.#outgoing
        this.#outgoing = ''
        if (this.#why === undefined) this.#write(outgoing)
      })
    }
    this.#outgoing += `${text}\n`
  }

  /** If the process does not read, reading from it pauses, and its call runs into its time limit. */
  #write(text: string): void {
    this.#channel.write(text)
    if (this.#channel.writableLength <= this.#options.limits.unansweredBytes || this.#channel.isPaused()) return
    this.#channel.pause()
    this.#channel.once('drain', () => this.#channel.resume())
  }
}

function failed(why: string, cause: CallFailure = 'ended'): AppError {
  return new AppError('PLUG_FAILED', why, { cause })
}
