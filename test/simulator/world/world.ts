/** Executes one run: a machine with its medium and host, the clients around it, and what they know. */
import type { ApiKeys } from '../../../src/host/auth/api-keys.ts'
import { tellKeyChange } from '../../../src/host/auth/key-changes.ts'
import { messageOf } from '../../../src/kernel/errors.ts'
import { Chance } from './chance.ts'
import { SERVED, startLife, type Answer, type HostLife, type Question, type Setting } from './host-life.ts'
import { CALM, Medium, type Manners, type Trouble } from './medium.ts'
import type { Cast, Fault } from './plan.ts'
import { network } from './network.ts'
import { notePlugs, type NoteBook } from './note-plug.ts'
import { ScriptCalls } from './script-calls.ts'
import { ToldWords } from './told-words.ts'
import type { VirtualLoop } from './virtual-loop.ts'

export const TENANTS = ['one', 'two'] as const

/** A client's knowledge about its request. `refused`: nothing was done; `unknown`: it may or may not have been done. */
export type Outcome =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly answer?: Answer }
  | { readonly kind: 'unknown'; readonly answer?: Answer }

/** The outcome when the host is down, and when it does not respond. */
type NotDone = { readonly kind: 'refused' } | { readonly kind: 'unknown' }

/** A violation that a run found. */
export interface Finding {
  /** name of the oracle that reports it */
  readonly oracle: string
  readonly text: string
}

/** ms after which a client gives up; the host gives up earlier */
const PATIENCE_MS = 45_000
/** ms of a forward clock change that a host treats as a sleep */
export const SLEPT_MS = 60_000
/**
 * The same while calls are open, with a margin: due times must be exceeded by more than that, and a call's limit is
 * later than its beginning.
 */
const SLEPT_IN_CALLS_MS = SLEPT_MS + 25_000
/** ms without a response after which a host queries its store before a limit expires, with a margin */
const ASKED_AFTER_MS = 7_000
/** ms within which a healthy store responds */
const ANSWERS_SOON_MS = 1_000
/** ms within which a host compensates for a jump */
const MADE_UP_MS = 5_000
/** how fast time passes at least for a host whose wall clock is behind (HOSTCLOCK-2) */
const SLOWEST = 0.9
/** ms until a host that failed to start is started again; doubles each time up to `most` */
const START_AGAIN_MS = { first: 2_000, most: 16_000 }
/** ms within which a fault that waits for events occurs */
const SOON_MS = 2_000
/** ms of calm after which everything is at rest */
export const REST_MS = 150_000

/** The time of a call, in ms since the beginning of the run. */
interface CountedTime {
  readonly tenant: string
  readonly from: number
  readonly to: number
  /** ms */
  readonly limitMs: number
  /** ms of its limit that may have been used before `from` */
  readonly hadBefore: number
}

/** How a client follows a streaming response. */
export interface Following {
  /** the client leaves when this resolves */
  readonly left?: Promise<void>
  /** called when the client is accepted, before anything arrives */
  readonly opened?: () => void
}

/** responses to an operator, in the form that clients receive */
const DONE: Answer = { status: 200, body: undefined, headers: {} }
const NOTHING_TO_DO: Answer = { status: 404, body: undefined, headers: {} }

const NEVER = new Promise<void>(() => undefined)

export class World {
  readonly loop: VirtualLoop
  readonly medium: Medium
  readonly notes: NoteBook
  readonly scripts: ScriptCalls
  readonly findings: Finding[] = []
  /** whether the medium was ever so slow that calls may have exceeded their time limits */
  wasSlow = false
  /** periods of store trouble, with the first time by tenant that inputs of rules met it */
  readonly #troubles: { readonly from: number; to: number; readonly metAt: Map<string, number> }[] = []
  /** forward changes of the wall clock, and the part that hosts may have counted toward call limits */
  readonly #leaps: { readonly at: number; readonly ms: number; readonly counted: number }[] = []
  /** most ms by which hosts are ahead of the wall clock */
  #ahead = 0
  /** set once the wall clock was set back: the hosts' time passes more slowly from then on */
  #isSlow = false
  /** one line per event; equal for equal runs */
  readonly history: string[] = []
  readonly counts = {
    /** requests and their outcomes */
    asked: 0,
    answered: 0,
    refused: 0,
    unknown: 0,
    /** lasting connections, and messages sent and read on them */
    joined: 0,
    sent: 0,
    read: 0,
    faults: 0,
    crashes: 0,
    failedStarts: 0,
    warnings: 0,
  }
  readonly #lanes = new Map<string, Promise<void>>()
  /** called when the machine dies */
  readonly #open = new Set<() => void>()
  #life: HostLife | undefined
  /** number of lives, including failed starts */
  #lives = 0
  #isDown = true
  /** ms */
  #startAgainMs = START_AGAIN_MS.first
  #working = 0

  readonly #tenants: readonly string[]
  readonly #setting: Setting

  /** undefined when only the host uses the store */
  readonly #words: ToldWords | undefined

  /** `asks`: routes that the clients call; absent: all. */
  constructor(
    loop: VirtualLoop,
    seed: string,
    { tenants, services, serves = SERVED }: Cast,
    asks?: ReadonlySet<string>,
  ) {
    this.loop = loop
    network.forget()
    this.#tenants = tenants
    this.medium = new Medium(loop, new Chance(`medium ${seed}`), {
      met: (tenant) => this.#metTrouble(tenant),
      found: (text) => this.find('one log', text),
    })
    const { plugs, book } = notePlugs(loop, new Chance(`plugs ${seed}`), (line) => this.tell(line))
    this.notes = book
    this.scripts = new ScriptCalls(loop, book)
    this.#words = services.includes('keys') ? new ToldWords(loop) : undefined
    this.#setting = { plugs, webscripts: this.scripts.make, serves, asks, words: this.#words }
  }

  /** ms since the beginning */
  get now(): number {
    return this.loop.elapsed
  }

  /** number of the current host life */
  get life(): number {
    return this.#lives
  }

  tell(line: string): void {
    this.history.push(`${this.now.toFixed(3)} ${line}`)
  }

  find(oracle: string, text: string): void {
    this.findings.push({ oracle, text })
    this.tell(`FOUND ${oracle}: ${text}`)
  }

  async begin(): Promise<void> {
    this.#start()
    await this.loop.run(() => this.#life !== undefined)
    const { keyPairs } = this.#requireLife().composed
    let made = false
    void Promise.all(this.#tenants.map((tenant) => keyPairs.add({ key: tenant, secret: 'secret', tenant }))).then(
      () => {
        made = true
      },
    )
    await this.loop.run(() => made)
  }

  /** Lets time pass. */
  until(at: number): Promise<void> {
    return this.loop.run(() => false, at)
  }

  /** Runs the work of a client; works of one lane run one after the other. */
  work(lane: string, work: () => Promise<void>): void {
    this.#working++
    const done = (this.#lanes.get(lane) ?? Promise.resolve())
      .then(work)
      .catch((error: unknown) => this.find('simulator', `${lane}: ${(error as Error).stack ?? messageOf(error)}`))
      .finally(() => this.#working--)
    this.#lanes.set(lane, done)
  }

  pause(ms: number): Promise<void> {
    return new Promise((resolve) => void this.loop.after(ms, resolve, 'client'))
  }

  /** Sends one request. */
  async ask(question: Question): Promise<Outcome> {
    const name = `${question.tenant} ${question.method} ${question.url}`
    this.counts.asked++
    const outcome = await this.#asked(question)
    this.counts[outcome.kind]++
    const { answer } = outcome
    this.tell(
      `${name} ${JSON.stringify(question.body) ?? ''} -> ${outcome.kind} ${answer?.status ?? ''} ${short(answer?.body)}`,
    )
    return outcome
  }

  #asked(question: Question): Promise<Outcome> {
    return this.#patiently<Outcome>((life, tell) => {
      void life.ask(question).then(
        (answer) => {
          if (hasNoRoute(answer)) this.#requireAsked(question)
          tell({ kind: answer.status >= 500 ? 'unknown' : answer.status < 400 ? 'answered' : 'refused', answer })
        },
        // a host that has stopped accepts no connection
        () => tell({ kind: 'refused' }),
      )
    })
  }

  /**
   * Changes API keys like an operator's process that shares the host's store. `work` returns false when it had nothing
   * to do; after a failure, the outcome is unknown.
   */
  async changeKeys(text: string, work: (keys: ApiKeys) => Promise<boolean>): Promise<Outcome> {
    this.counts.asked++
    const outcome: Outcome = await this.#patiently<Outcome>(({ composed }, tell) => {
      void work(composed.keyPairs).then(
        (isDone) => tell(isDone ? { kind: 'answered', answer: DONE } : { kind: 'refused', answer: NOTHING_TO_DO }),
        () => tell({ kind: 'unknown' }),
      )
    })
    this.counts[outcome.kind]++
    this.tell(`${text} -> ${outcome.kind} ${outcome.answer?.status ?? ''}`)
    return outcome
  }

  /** Resolves when the host was notified of changed keys; never when it dies meanwhile. */
  tellKeyChange(): Promise<void> {
    return tellKeyChange({ notify: (word) => this.#words?.tell(word) ?? Promise.resolve() })
  }

  /** Begins something on the running host. If the machine dies or it takes too long, no result arrives. */
  #patiently<O>(begin: (life: HostLife, tell: (outcome: O) => void) => void): Promise<O | NotDone> {
    const life = this.#life
    if (life === undefined) return Promise.resolve({ kind: 'refused' })
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#open.delete(giveUp)
        resolve({ kind: 'unknown' })
      }
      this.#open.add(giveUp)
      const patience = this.loop.after(PATIENCE_MS, giveUp, 'client')
      const tell = (outcome: O): void => {
        patience.isOff = true
        this.#open.delete(giveUp)
        resolve(outcome)
      }
      begin(life, tell)
    })
  }

  /** Returns the running host, and a promise that resolves when its machine dies. */
  link(): { readonly life: HostLife; readonly died: Promise<void> } | undefined {
    const life = this.#life
    return life && { life, died: this.#death() }
  }

  /** Resolves when the machine dies. */
  #death(): Promise<void> {
    return new Promise((resolve) => {
      const lost = (): void => {
        this.#open.delete(lost)
        resolve()
      }
      this.#open.add(lost)
    })
  }

  /** Reads a streaming response until it ends or the machine dies. Returns false without a response. */
  async follow(
    question: Question,
    heard: (text: string) => void,
    { left = NEVER, opened }: Following = {},
  ): Promise<boolean> {
    const life = this.#life
    if (life === undefined) return false
    const number = this.#lives
    this.counts.joined++
    this.tell(`${question.tenant} follows ${question.url} ${JSON.stringify(question.headers)}`)
    const died = this.#death().then(() => false as const)
    const begun = (): void => {
      if (number === this.#lives) opened?.()
    }
    const asked = life.follow(question, { begun, left }, (text) => {
      if (number === this.#lives) heard(text)
    })
    const answer = await Promise.race([asked.catch(() => false as const), died])
    if (answer !== false && answer.status === 404) this.#requireAsked(question)
    if (answer === false || answer.status !== 200) return false
    await Promise.race([answer.over, died])
    this.tell(`${question.tenant} follows ${question.url} no longer`)
    return true
  }

  /** Sends a request that must succeed when all is well. */
  async look(question: Question): Promise<Answer> {
    const outcome = await this.ask(question)
    if (outcome.kind === 'answered') return outcome.answer
    if (outcome.kind === 'refused' && outcome.answer !== undefined && outcome.answer.status === 404)
      return outcome.answer
    this.find(
      'answers again',
      `${question.tenant} ${question.method} ${question.url}: ${outcome.kind} ${JSON.stringify(outcome.answer)}`,
    )
    return { status: 0, body: undefined, headers: {} }
  }

  /** `turns`: the number of events to wait for first. */
  async apply(step: Fault, turns = 0): Promise<void> {
    if (turns > 0) {
      const due = this.loop.happened + turns
      await this.loop.run(() => this.loop.happened >= due, this.now + SOON_MS)
    }
    this.counts.faults++
    this.tell(`FAULT ${JSON.stringify(step)}`)
    if (step.fault === 'crash') return this.#crash(step.downMs)
    if (step.fault === 'power') return this.#crash(step.downMs, this.now - step.seriesMs)
    if (step.fault === 'restart') return this.#restart(step.downMs)
    if (step.fault === 'trouble' || (step.fault === 'manners' && isSlow(step.manners))) {
      this.wasSlow = true
    }
    if (step.fault === 'trouble') {
      this.#trouble(step.kind, step.ms)
    } else if (step.fault === 'manners') this.medium.manners = step.manners
    else if (step.fault === 'clock') {
      this.loop.stepWall(step.ms)
      if (step.ms > 0) this.#leaps.push({ at: this.now, ms: step.ms, counted: this.#countedOf(step.ms) })
      else this.#isSlow = true
      this.#ahead = Math.max(0, this.#ahead - step.ms)
    } else this.notes.behaviour = step
  }

  /**
   * Returns the ms of a period that may count toward a call's limit: small jumps, and time during which the store was
   * well, its trouble did not have to be noticed, or it recovered before the limit.
   */
  countedWithin({ tenant, from, to, limitMs, hadBefore }: CountedTime): number {
    const leapt = this.leaptWithin(from, to)
    const longest = this.#longestLimit(from, to, limitMs)
    const first = from + limitMs - hadBefore - leapt
    const last = from + longest - leapt
    const troubled = this.#troubles
      .filter((one) => one.to >= last)
      .reduce((sum, one) => {
        const metAt = one.metAt.get(tenant) ?? Infinity
        // The limit makes the host query a store that has not responded lately. Before the earliest possible expiry,
        // another query may come first, and the time before that counts.
        const isAsked =
          metAt >= last && one.from <= first - ASKED_AFTER_MS && one.to >= from + longest + ANSWERS_SOON_MS
        return sum + common(from, to, isAsked ? one.from : metAt, one.to)
      }, 0)
    return to - from - troubled + leapt
  }

  /** Returns the latest ms after which the limit of a call in this period expires. */
  #longestLimit(from: number, to: number, limitMs: number): number {
    // after a jump that does not count, nothing counts until a host has handled it
    const isHeldUp = this.#leaps.some(({ at, ms, counted }) => counted < ms && at >= from && at <= to)
    return (isHeldUp ? 2 : 1) * (this.#isSlow ? limitMs / SLOWEST : limitMs)
  }

  /** Returns the ms of a period without store trouble. */
  wellWithin(from: number, to: number): number {
    return to - from - this.#troubles.reduce((sum, one) => sum + common(from, to, one.from, one.to), 0)
  }

  /**
   * Returns the ms of forward clock changes in a period, where these may have been small: they count toward limits. A
   * host compensates soon afterwards, and dates what begins then earlier.
   */
  leaptWithin(from: number, to: number): number {
    return this.#leaps
      .filter(({ at }) => at >= from - MADE_UP_MS && at <= to)
      .reduce((sum, { counted }) => sum + counted, 0)
  }

  /** Returns the part of a jump that takes the clock beyond the time that the host already has. */
  #countedOf(ms: number): number {
    if (ms - this.#ahead >= SLEPT_IN_CALLS_MS) return 0
    return Math.min(ms, SLEPT_IN_CALLS_MS)
  }

  /** Returns the ms of each forward change of the wall clock since then. */
  leapsSince(from: number): readonly number[] {
    return this.#leaps.filter(({ at }) => at >= from).map(({ ms }) => ms)
  }

  /** Ends all faults and lets open work finish. */
  async settle(): Promise<void> {
    const trouble = this.#troubles.at(-1)
    if (trouble !== undefined) trouble.to = Math.min(trouble.to, this.now)
    this.medium.end()
    this.medium.manners = CALM
    this.notes.behaviour = undefined
    this.tell('faults end')
    await this.loop.run(() => this.#life !== undefined && this.#working === 0, this.now + 10 * PATIENCE_MS)
    if (this.#life === undefined) this.find('answers again', 'the host does not start')
    if (this.#working > 0) this.find('answers again', `${this.#working} clients wait for ever`)
    await this.until(this.now + REST_MS)
  }

  /** Lets clients work while all is well. */
  async inCalm(work: () => Promise<void>): Promise<void> {
    this.work('calm', work)
    await this.loop.run(() => this.#working === 0, this.now + 10 * PATIENCE_MS)
    if (this.#working > 0) this.find('answers again', 'an answer never came although all is well')
  }

  async end(): Promise<void> {
    let isOver = false
    const life = this.#life
    this.#life = undefined
    void life?.stop().then(
      () => (isOver = true),
      (error: unknown) => {
        this.find('stops', messageOf(error))
        isOver = true
      },
    )
    await this.loop.run(() => isOver, this.now + 120_000)
    if (!isOver && life !== undefined) this.find('stops', 'the host does not stop within two minutes')
  }

  /** Replaces the current trouble. */
  #trouble(kind: Trouble, ms: number): void {
    const before = this.#troubles.at(-1)
    const isLonger = before !== undefined && before.to > this.now
    if (before !== undefined) before.to = Math.min(before.to, this.now)
    const metBefore = isLonger ? [...before.metAt.keys()] : []
    const metAt = new Map(metBefore.map((tenant) => [tenant, this.now]))
    const one = { from: this.now, to: this.now + ms, metAt }
    this.#troubles.push(one)
    this.medium.begin(kind)
    this.loop.after(ms, () => this.#troubles.at(-1) === one && this.medium.end(), 'world')
  }

  #metTrouble(tenant: string): void {
    const trouble = this.#troubles.at(-1)
    if (trouble !== undefined && !trouble.metAt.has(tenant)) trouble.metAt.set(tenant, this.now)
  }

  /** `seriesAt`: resets the series to that time. */
  async #crash(downMs: number, seriesAt?: number): Promise<void> {
    if (this.#isDown) return
    this.counts.crashes++
    this.#isDown = true
    this.#life = undefined
    this.#lives++
    this.loop.forget()
    network.forget()
    await this.medium.crash()
    if (seriesAt !== undefined) await this.medium.loseSeriesSince(seriesAt)
    this.notes.crashed()
    for (const lost of this.#open) lost()
    this.loop.after(downMs, () => this.#start(), 'world')
  }

  async #restart(downMs: number): Promise<void> {
    const life = this.#life
    if (life === undefined || this.#isDown) return
    this.#isDown = true
    const number = this.#lives
    const over = (): void => {
      if (number !== this.#lives) return
      this.#life = undefined
      this.#lives++
      this.loop.forget()
      network.forget()
      void this.medium.crash()
      this.notes.crashed()
      for (const lost of this.#open) lost()
      this.loop.after(downMs, () => this.#start(), 'world')
    }
    void life.stop().then(
      () => {
        this.tell('stopped')
        over()
      },
      (error: unknown) => {
        this.tell(`stopped badly: ${messageOf(error)}`)
        over()
      },
    )
    // kills a host that does not stop in time
    this.loop.after(10_000, over, 'world')
  }

  #start(): void {
    const number = ++this.#lives
    this.#isDown = false
    void startLife(this.medium, this.#setting, (line) => this.#logged(line)).then(
      (life) => {
        if (number === this.#lives) {
          this.#life = life
          this.#startAgainMs = START_AGAIN_MS.first
        }
        this.tell('the host is up')
      },
      (error: unknown) => {
        if (number !== this.#lives) return
        this.counts.failedStarts++
        this.tell(`the host does not start: ${messageOf(error)}`)
        this.#isDown = true
        this.loop.forget()
        network.forget()
        void this.medium.crash()
        this.notes.crashed()
        this.loop.after(this.#startAgainMs, () => this.#start(), 'world')
        this.#startAgainMs = Math.min(2 * this.#startAgainMs, START_AGAIN_MS.most)
      },
    )
  }

  #logged(line: string): void {
    const { msg, err, level } = JSON.parse(line) as { msg?: string; level: number; err?: { stack?: string } }
    if (msg?.includes('describes its API') === true) return
    this.counts.warnings++
    this.tell(`LOG ${level} ${msg ?? ''} ${err?.stack ?? ''}`)
    // the tenant's running services were stopped, so the next ones repeat their calls, as after a crash
    if (/could not be opened|TenantServices\.open/.test(line)) this.notes.crashed()
    // a fault outside must never cause an internal error
    if (/TypeError|RangeError|ReferenceError|internal error|Reply was already sent/i.test(line))
      this.find('no error inside', line)
  }

  #requireAsked({ method, url }: Question): void {
    this.find('simulator', `no service of this run says in \`asks\` that it asks ${method} ${url}`)
  }

  #requireLife(): HostLife {
    if (this.#life === undefined) throw new Error('no host is up')
    return this.#life
  }
}

function hasNoRoute({ status, body }: Answer): boolean {
  return status === 404 && /[A-Z]+ [/][^ ]* does not exist; [/]docs/.test(JSON.stringify(body))
}

function isSlow({ writeMs, refused, unread = 0 }: Manners): boolean {
  return writeMs >= 200 || refused > 0 || unread > 0
}

function short(body: unknown): string {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  return text.length > 600 ? `${text.slice(0, 600)}...` : text
}

/** Returns the ms that two periods have in common. */
function common(from: number, to: number, otherFrom: number, otherTo: number): number {
  return Math.max(0, Math.min(to, otherTo) - Math.max(from, otherFrom))
}
