/**
 * Pools the processes of all programs of a host: started on calls, ended when idle, and held back after crashes.
 *
 * PROCPOOL-1 the number of processes never exceeds the limit of the host, nor the share of an owner
 * PROCPOOL-2 a process runs one program of one owner, and is never reused for another
 * PROCPOOL-3 a crashed program is not started again before its backoff ends, and calls are rejected with the reason; a
 *   successful call resets the backoff
 * PROCPOOL-4 a program without calls has no process
 * PROCPOOL-5 the number of calls that wait for a process, and their waiting time, are bounded
 */
import { AppError, type CancelSignal, CpuAllowance, LruCache, type StartTimer } from '#kernel'
import { launchOf } from './launch.ts'
import { type Machine, nextUser } from './inspect-machine.ts'
import type { ProcessLimits } from './limits.ts'
import type { Interpreter, Language, Program, ProgramLine } from './program.ts'
import { type CallFailure, type CallOptions, SandboxProcess } from './sandbox-process.ts'

export interface PoolOptions {
  readonly machine: Machine
  readonly emptyFolder: string
  readonly limits: ProcessLimits
  readonly processes: number
  readonly perProgram: number
  readonly idleMs: number
  readonly later: StartTimer
  readonly clock: () => number
  readonly answer: (program: Program, method: string, params: unknown, signal: AbortSignal) => Promise<unknown>
  readonly log: (program: Program, line: ProgramLine) => void
}

export interface ProgramState {
  readonly processes: number
  readonly open: number
  readonly crashes: number
  readonly lastEnd?: string
  /** Time in ms until the program may be started again; 0: now */
  readonly startsIn: number
}

interface Group {
  readonly program: Program
  readonly members: Set<Member>
  crashes: number
  lastEnd: string | undefined
  notBefore: number
  /** CPU time of the program's ended processes, in ms */
  spentMs: number
  readonly allowance: CpuAllowance | undefined
}

interface Member {
  readonly group: Group
  readonly process: SandboxProcess
  calls: number
  lastUsed: number
  isReleased: boolean
  isSpent: boolean
}

const MAX_OWNERS = 10_000
/** Seconds of CPU time that an idle program can accumulate */
const SAVED_S = 30
const MAX_WAITING = 1_000
const WAIT_MS = 5_000
const FIRST_BACKOFF_MS = 100
const MAX_BACKOFF_MS = 30_000
/** At least this many calls, the oldest of which waits at least this long. */
const BUSY_CALLS = 16
const BUSY_MS = 100

export class ProcessPool {
  readonly #options: PoolOptions
  readonly #groups = new Map<string, Group>()
  readonly #members = new Set<Member>()
  readonly #waiting: (() => void)[] = []
  /** CPU time of ended processes by owner, in ms */
  readonly #spent = new LruCache<string, number>(MAX_OWNERS)
  #stopSweep: (() => void) | undefined
  #isClosed = false

  constructor(options: PoolOptions) {
    this.#options = options
  }

  get running(): number {
    return this.#members.size
  }

  runs(language: Language): boolean {
    return this.#options.machine.interpreters.has(language)
  }

  /** Rejects with `PLUG_FAILED`, also when held back or no process is free, `TOO_LARGE` or `CLOSED`. */
  async call(program: Program, method: string, params: unknown, options?: CallOptions): Promise<unknown> {
    const member = this.#memberNow(program, options?.signal) ?? (await this.#member(program, options?.signal))
    try {
      if (!member.process.isReady) await member.process.ready
      throwIfAborted(options?.signal)
      const value = await member.process.call(method, params, options)
      // a successful call resets the count of crashes
      member.group.crashes = 0
      return value
    } finally {
      member.calls--
      member.lastUsed = this.#options.clock()
      // the process can now be evicted, or take one more call
      if (member.calls === 0 || member.calls === this.#options.limits.calls - 1) this.#wakeAll()
    }
  }

  has({ key }: Pick<Program, 'key'>): boolean {
    return (this.#groups.get(key)?.members.size ?? 0) > 0
  }

  state(key: string): ProgramState {
    const group = this.#groups.get(key)
    if (group === undefined) return { processes: 0, open: 0, crashes: 0, startsIn: 0 }
    return {
      processes: group.members.size,
      open: openOf(group),
      crashes: group.crashes,
      ...(group.lastEnd !== undefined && { lastEnd: group.lastEnd }),
      startsIn: Math.max(0, Math.ceil(group.notBefore - this.#options.clock())),
    }
  }

  /** ms; never falls, until the owner is evicted after long inactivity. */
  cpuMs(owner: string): number {
    let ms = this.#spent.get(owner) ?? 0
    for (const { group, process, isSpent } of this.#members) {
      if (group.program.owner === owner && !isSpent) ms += process.cpuMs
    }
    return ms
  }

  async release(key: string, why = 'the function was removed'): Promise<void> {
    const group = this.#groups.get(key)
    if (group === undefined) return
    this.#groups.delete(key)
    await Promise.all([...group.members].map((member) => this.#release(member, why)))
  }

  async releaseOwner(owner: string): Promise<void> {
    const keys = [...this.#groups].flatMap(([key, { program }]) => (program.owner === owner ? key : []))
    await Promise.all(keys.map((key) => this.release(key, 'the host shuts down')))
  }

  async close(): Promise<void> {
    this.#isClosed = true
    this.#stopSweep?.()
    this.#wakeAll()
    await Promise.all([...this.#members].map((member) => this.#release(member, 'the host shuts down')))
  }

  async #member(program: Program, signal: CancelSignal | undefined): Promise<Member> {
    const until = this.#options.clock() + WAIT_MS
    for (;;) {
      await this.#wait(until)
      const member = this.#memberNow(program, signal)
      if (member !== undefined) return member
    }
  }

  #memberNow(program: Program, signal: CancelSignal | undefined): Member | undefined {
    throwIfAborted(signal)
    const member = this.#withRoom(program)
    if (member !== undefined) member.calls++
    return member
  }

  #withRoom(program: Program): Member | undefined {
    if (this.#isClosed) throw new AppError('CLOSED', 'the host is shutting down; retry when it is back')
    const group = this.#group(program)
    this.#refuseBeyondCpu(group)
    const best = leastBusy(group)
    const room = best !== undefined && best.calls < this.#options.limits.calls ? best : undefined
    if (room !== undefined && !isBusy(room)) return room
    const mayStart = group.members.size < this.#options.perProgram && this.#hasShare(program.owner)
    if (mayStart && (best === undefined || this.#members.size < this.#options.processes)) {
      this.#refuseHeldBack(group)
      if (this.#members.size < this.#options.processes || this.#evictIdle()) return this.#start(group)
    }
    return room
  }

  #wakeAll(): void {
    for (const wake of this.#waiting.splice(0)) wake()
  }

  #group(program: Program): Group {
    const known = this.#groups.get(program.key)
    if (known !== undefined) return known
    const { cpuPerSecond } = program
    const group: Group = {
      program,
      spentMs: 0,
      allowance: cpuPerSecond === undefined ? undefined : allowanceOf(cpuPerSecond),
      members: new Set(),
      crashes: 0,
      lastEnd: undefined,
      notBefore: Number.NEGATIVE_INFINITY,
    }
    this.#groups.set(program.key, group)
    return group
  }

  /** Each owner may have half of the processes, so that no owner blocks the others. */
  #hasShare(owner: string): boolean {
    const most = Math.max(1, Math.ceil(this.#options.processes / 2))
    let count = 0
    for (const { group, calls } of this.#members) {
      if (group.program.owner === owner && calls > 0) count++
    }
    return count < most
  }

  #refuseHeldBack({ crashes, notBefore, lastEnd }: Group): void {
    const ms = Math.ceil(notBefore - this.#options.clock())
    if (ms <= 0) return
    const often = crashes === 1 ? 'once,' : `${crashes} times in a row, last`
    const why = lastEnd ?? 'the reason is unknown'
    throw new AppError('PLUG_FAILED', `it ended ${often} because ${why}; retry in ${ms} ms`, {
      cause: 'held back' satisfies CallFailure,
    })
  }

  #refuseBeyondCpu({ allowance, members, spentMs, program }: Group): void {
    if (allowance === undefined) return
    let taken = spentMs
    for (const { process } of members) taken += process.cpuMs
    const wait = allowance.waitAfter(taken, this.#options.clock())
    if (wait === 0) return
    const limit = `${program.cpuPerSecond} s of CPU time in a second`
    throw new AppError('PLUG_FAILED', `it exceeded its limit of ${limit}; retry in ${wait} s`, {
      cause: 'held back' satisfies CallFailure,
    })
  }

  #start(group: Group): Member {
    const { machine, later, clock, answer, log } = this.#options
    const { program } = group
    const { memoryMib = this.#options.limits.memoryMib } = program
    const limits = { ...this.#options.limits, memoryMib }
    const interpreter = program.interpreter ?? machine.interpreters.get(program.language)
    if (interpreter === undefined)
      throw new AppError('PLUG_FAILED', `this host does not run functions for ${program.language}`)
    const process = new SandboxProcess({
      launch: launchOf(program, { ...this.#launchOptions(interpreter), limits }),
      program,
      limits,
      answer: (method, params, signal) => answer(program, method, params, signal),
      log: (line) => log(program, line),
      later,
      clock,
      answers: () => this.#wakeAll(),
    })
    const member: Member = {
      group,
      process,
      calls: 0,
      lastUsed: clock(),
      isReleased: false,
      isSpent: false,
    }
    this.#members.add(member)
    group.members.add(member)
    void process.ended.then((why) => this.#over(member, why))
    this.#stopSweep ??= later(this.#options.idleMs / 2, () => this.#sweep())
    return member
  }

  #launchOptions(interpreter: Interpreter): Parameters<typeof launchOf>[1] {
    const { machine, limits, emptyFolder } = this.#options
    return { confinement: machine.confinement, interpreter, limits, emptyFolder, user: nextUser() }
  }

  #over(member: Member, why: string): void {
    const { group } = member
    this.#spend(member)
    this.#members.delete(member)
    group.members.delete(member)
    if (!member.isReleased) {
      group.lastEnd = why
      group.crashes++
      const backoff = Math.min(MAX_BACKOFF_MS, FIRST_BACKOFF_MS * 2 ** (group.crashes - 1))
      group.notBefore = this.#options.clock() + backoff
    }
    this.#wakeAll()
  }

  /** Adds the CPU time of an ended process, only once. */
  #spend(member: Member): void {
    if (member.isSpent) return
    member.isSpent = true
    const { owner } = member.group.program
    const { cpuMs } = member.process
    member.group.spentMs += cpuMs
    this.#spent.set(owner, (this.#spent.get(owner) ?? 0) + cpuMs)
  }

  /** Ends the process that has been idle for longest. Returns false when all are busy. */
  #evictIdle(): boolean {
    let oldest: Member | undefined
    for (const member of this.#members) {
      if (member.calls > 0 || member.isReleased) continue
      if (oldest === undefined || member.lastUsed < oldest.lastUsed) oldest = member
    }
    if (oldest === undefined) return false
    void this.#release(oldest, 'other programs needed its slot')
    // the slot is free at once: the process is being killed and takes no calls
    this.#members.delete(oldest)
    return true
  }

  async #release(member: Member, why: string): Promise<void> {
    member.isReleased = true
    member.process.end(why)
    this.#spend(member)
    member.group.members.delete(member)
    await member.process.ended
  }

  #sweep(): void {
    const { clock, idleMs, later } = this.#options
    const before = clock() - idleMs
    for (const member of this.#members) {
      if (member.calls === 0 && member.lastUsed < before) void this.#release(member, 'it was idle')
    }
    for (const [key, group] of this.#groups) {
      if (group.members.size === 0 && group.crashes === 0) this.#groups.delete(key)
    }
    this.#stopSweep = this.#members.size === 0 ? undefined : later(idleMs / 2, () => this.#sweep())
  }

  async #wait(until: number): Promise<void> {
    const left = until - this.#options.clock()
    if (left <= 0 || this.#waiting.length >= MAX_WAITING) {
      throw new AppError('PLUG_FAILED', 'all processes for functions of this host are busy; retry later', {
        cause: 'held back' satisfies CallFailure,
      })
    }
    await new Promise<void>((resolve) => {
      const wake = (): void => {
        callOff()
        resolve()
      }
      const callOff = this.#options.later(left, () => {
        this.#waiting.splice(this.#waiting.indexOf(wake), 1)
        resolve()
      })
      this.#waiting.push(wake)
    })
  }
}

function allowanceOf(perSecond: number): CpuAllowance {
  return new CpuAllowance({ perSecond, most: perSecond * SAVED_S })
}

function leastBusy({ members }: Group): Member | undefined {
  let best: Member | undefined
  for (const member of members) {
    if (member.process.isOver || member.process.isInDoubt) continue
    if (best === undefined || member.calls < best.calls) best = member
  }
  return best
}

function isBusy({ calls, process }: Member): boolean {
  return calls >= BUSY_CALLS && (!process.isReady || process.waitingMs >= BUSY_MS)
}

function openOf({ members }: Group): number {
  let count = 0
  for (const { process } of members) count += process.open
  return count
}

function throwIfAborted(signal: CancelSignal | undefined): void {
  if (signal?.aborted !== true) return
  throw new AppError('PLUG_FAILED', 'the caller cancelled the call', { cause: 'ended' satisfies CallFailure })
}
