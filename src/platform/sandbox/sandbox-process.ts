/**
 * One process of a program of somebody else: started, called, and ended when it breaks a bound.
 *
 * SANDPROC-1 whatever the process says is only an answer to a call that is open in it, a question, or a line of log; all
 *   else ends it
 * SANDPROC-2 every call settles: by its answer, by its time limit, or with the end of the process
 * SANDPROC-3 a call that is over its time is ended by itself; the process is ended when it answers no ping after that
 * SANDPROC-4 what a process writes, asks and keeps open is bounded, however fast it does it
 * SANDPROC-5 no line of its log and no error has a secret that it was given, as long as it writes it as it is
 * SANDPROC-6 what it starts counts with it: its processes have the memory of one, and end with the calls they came from
 */
import { spawn, type ChildProcess } from 'node:child_process'
import type { Duplex, Readable } from 'node:stream'
import {
  AppError,
  type CancelSignal,
  isPlainObject,
  messageOf,
  redacting,
  RenewableTimer,
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
  /** ms of a clock that never goes back */
  readonly clock: () => number
  /** it was in doubt whether it takes calls, and it does */
  readonly answers: () => void
}

export interface CallOptions {
  /** ms; default and most: that of the limits */
  readonly timeMs?: number | undefined
  /** tells the program; its answer is still waited for */
  readonly signal?: CancelSignal | undefined
  /** for whoever gives the call more time as it gets on */
  readonly timer?: RenewableTimer | undefined
}

/** Why a call failed, beside its words: the `cause` of its error. */
export type CallFailure = 'answered' | 'overdue' | 'ended' | 'held back'

interface OpenCall {
  /** ms by the clock */
  readonly since: number
  resolve(value: unknown): void
  reject(error: AppError): void
  callOff(): void
}

/** Characters of a message of a program that are told on. */
const MESSAGE_LENGTH = 2_000
const LEVELS: ReadonlySet<unknown> = new Set(['debug', 'info', 'warn', 'error'])

export class SandboxProcess {
  /** Resolves when it takes calls; rejects with `PLUG_FAILED`. */
  readonly ready: Promise<void>
  /** Whether it takes calls. */
  isReady = false
  /** Resolves with the reason when it is over. */
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
      // its own group: signals of a terminal are the host's
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
      say: (text) => this.#say('warn', text),
    })
    // Node's own permissions let it start nothing
    if (program.language !== 'node') this.#group.watch()
    this.#overdue = new OverdueCalls({
      pingMs: limits.pingMs,
      later,
      send: (order) => this.#send(order),
      end: (why) => this.end(why),
      answers: options.answers,
    })
    // with these four the system gives a socket pair as the fourth
    this.#channel = this.#child.stdio[3] as Duplex
    this.ready = new Promise((resolve, reject) => (this.#settleReady = { resolve, reject }))
    // whoever does not wait for it hears of it by a call
    this.ready.catch(() => undefined)
    this.ended = new Promise((resolve) => this.#watch(resolve))
    const lines = new JsonLines(limits.lineBytes, (value) => this.#hear(value))
    this.#channel.setEncoding('utf8')
    this.#channel.on('data', (piece: string) => this.#read(lines, piece))
    const callOff = later(limits.startMs, () => this.end(`it was not ready after ${limits.startMs} ms`))
    void this.ready.then(callOff, callOff)
    this.#send({ start: { module: program.module, argument: program.argument } })
  }

  /** calls that are open */
  get open(): number {
    return this.#calls.size
  }

  /** ms for which the call that was made first of those that are open has waited; 0 without any. */
  get waitingMs(): number {
    for (const { since } of this.#calls.values()) return this.#options.clock() - since
    return 0
  }

  /** Whether it is over, or about to be. */
  get isOver(): boolean {
    return this.#why !== undefined
  }

  /** Whether it may be blocked: a call is over its time, and a ping is not answered yet. */
  get isInDoubt(): boolean {
    return this.#overdue.isAsking
  }

  /** ms of CPU time, as it was lately. */
  get cpuMs(): number {
    return this.#group.cpuMs
  }

  /** What it answers; for a process that is ready. Rejects with `PLUG_FAILED`, `TOO_LARGE`. */
  call(
    method: string,
    params: unknown,
    { timeMs, signal, timer = new RenewableTimer() }: CallOptions = {},
  ): Promise<unknown> {
    const { limits, later, clock } = this.#options
    if (this.#why !== undefined) return Promise.reject(failed(this.#why))
    const call = ++this.#lastCall
    const text = JSON.stringify({ call, method, params })
    if (text.length > limits.lineBytes) {
      const sizes = `${text.length} characters, and at most ${limits.lineBytes} go`
      return Promise.reject(new AppError('TOO_LARGE', `what the call hands over is too much: ${sizes}`))
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

  /** Kills it; open calls are refused with the reason. */
  end(why: string): void {
    if (this.#why !== undefined) return
    this.#why = why
    this.isReady = false
    // as long as there is somebody to look at
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

  /** With all that it started, as far as it may start anything. */
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
      // what it said last is still on its way
      setImmediate(() => {
        this.end(code === null ? `it was ended by ${signal}` : `it ended with code ${code}`)
        this.#log.end()
        over(this.#why ?? '')
      })
    })
    this.#channel.on('error', () => undefined)
    this.#listen(this.#child.stdout, 'info')
    this.#listen(this.#child.stderr, 'error')
  }

  /** What it prints is its log, a line at a time. */
  #listen(stream: Readable | null, level: ProgramLine['level']): void {
    stream?.setEncoding('utf8')
    stream?.on('error', () => undefined)
    stream?.on('data', (piece: string) => {
      this.#output += piece.length
      for (const text of piece.split('\n')) if (text.trim() !== '') this.#say(level, this.#textOf(text))
      const { outputBytes } = this.#options.limits
      if (this.#output > outputBytes) this.end(`it printed more than ${outputBytes} bytes`)
    })
  }

  #read(lines: JsonLines, piece: string): void {
    this.#unanswered += piece.length
    try {
      lines.push(piece)
    } catch (error) {
      return this.end(`it broke the protocol: ${this.#textOf(messageOf(error))}`)
    }
    const { unansweredBytes } = this.#options.limits
    if (this.#unanswered > unansweredBytes) this.end(`it said more than ${unansweredBytes} bytes without an answer`)
  }

  #hear(said: unknown): void {
    if (this.#why !== undefined) return
    if (!isPlainObject(said)) return this.end('it broke the protocol: what it said is not an object')
    const { answer, ask, log, pong, ready, failed: failure } = said
    if (typeof answer === 'number') this.#answered(answer, said)
    else if (typeof ask === 'number') this.#asked(ask, said)
    else if (typeof pong === 'number') {
      if (!this.#overdue.ponged(pong)) this.end('it broke the protocol: it answered a ping that is not open')
    } else if (LEVELS.has(log)) this.#say(log as ProgramLine['level'], this.#textOf(said['text']))
    else if (this.#settleReady !== undefined && ready === true) {
      this.isReady = true
      this.#group.started()
      this.#settleReady.resolve()
      this.#settleReady = undefined
      this.#unanswered = 0
    } else if (this.#settleReady !== undefined && typeof failure === 'string') {
      this.end(`it did not start: ${this.#textOf(failure)}`)
    } else this.end('it broke the protocol: it said what nobody asked for')
  }

  #answered(number: number, { value, error }: Readonly<Record<string, unknown>>): void {
    const call = this.#calls.get(number)
    if (call === undefined && !this.#overdue.answered(number))
      return this.end('it broke the protocol: it answered a call that is not open')
    this.#unanswered = 0
    this.#output = 0
    if (call === undefined) return
    this.#calls.delete(number)
    call.callOff()
    if (error === undefined) call.resolve(value)
    else call.reject(failed(this.#textOf(error), 'answered'))
  }

  #asked(reply: number, { method, params }: Readonly<Record<string, unknown>>): void {
    const { answer, limits, later } = this.#options
    if (this.#calls.size === 0) return this.#send({ reply, error: 'no call is open for which it could be asked' })
    if (this.#questions.size >= limits.questions) {
      return this.#send({ reply, error: `at most ${limits.questions} questions to the host are open at once` })
    }
    const abort = new AbortController()
    this.#questions.add(abort)
    const settle = (outcome: object): void => {
      if (!this.#questions.delete(abort)) return
      callOff()
      // what was asked is dealt with, as what was answered is
      this.#unanswered = 0
      this.#reply(reply, outcome)
    }
    const callOff = later(limits.callMs, () => {
      settle({ error: `the host did not answer within ${limits.callMs} ms` })
      abort.abort()
    })
    answer(String(method), params, abort.signal).then(
      (value) => settle({ value }),
      (error: unknown) => settle({ error: messageOf(error) }),
    )
  }

  #reply(reply: number, outcome: object): void {
    const text = JSON.stringify({ reply, ...outcome })
    if (text.length > this.#options.limits.lineBytes) this.#send({ reply, error: 'the answer is too long' })
    else this.#sendText(text)
  }

  #giveUp(number: number, ms: number): void {
    const call = this.#calls.get(number)
    if (call === undefined) return
    this.#calls.delete(number)
    call.callOff()
    call.reject(failed(`it did not answer within ${ms} ms`, 'overdue'))
    this.#overdue.add(number, ms)
  }

  #say(level: ProgramLine['level'], text: string): void {
    this.#log.say({ level, text })
  }

  /** What it says, for people. */
  #textOf(value: unknown): string {
    return this.#redact(typeof value === 'string' ? value : JSON.stringify(value)).slice(0, MESSAGE_LENGTH)
  }

  #send(value: object): void {
    this.#sendText(JSON.stringify(value))
  }

  /** What is sent in one turn goes out at once. */
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

  /** Who does not read is not heard until it has: it comes to the end of the time of its call. */
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
