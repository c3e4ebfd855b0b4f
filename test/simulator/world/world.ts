/** One run: a machine with its medium, the host on it, clients around it, and what they know. */
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

/** What a client knows of what it asked for. `refused`: nothing of it was done; `unknown`: nobody can say. */
export type Outcome =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly answer?: Answer }
  | { readonly kind: 'unknown'; readonly answer?: Answer }

/** What everybody is told when the host is not there, and when it says nothing. */
type NotDone = { readonly kind: 'refused' } | { readonly kind: 'unknown' }

/** Something that must not be. */
export interface Finding {
  /** which of the oracles says so */
  readonly oracle: string
  readonly text: string
}

/** ms after which a client gives up; the host gives up earlier */
const PATIENCE_MS = 45_000
/** ms by which a clock that was set forward is taken for a machine that slept */
export const SLEPT_MS = 60_000
/**
 * The same where calls are under way, with some to spare: what is due is to be late by more than that, and the limit of a
 * call is due later than its beginning.
 */
const SLEPT_IN_CALLS_MS = SLEPT_MS + 25_000
/** ms for which nothing was heard of a store that a host asks before a limit passes, with some to spare */
const ASKED_AFTER_MS = 7_000
/** ms within which a store that was asked is well if it says something */
const ANSWERS_SOON_MS = 1_000
/** ms after a leap within which a host makes up for it */
const MADE_UP_MS = 5_000
/** of the time that passes, what at least passes for a host whose wall clock is behind (HOSTCLOCK-2) */
const SLOWEST = 0.9
/** ms until a host that does not start is started again; each time twice as long, at most so long */
const START_AGAIN_MS = { first: 2_000, most: 16_000 }
/** ms within which a fault that waits for things to happen comes */
const SOON_MS = 2_000
/** ms of calm after which everything has come to rest */
export const REST_MS = 150_000

/** Time of a call, in ms since the beginning of the run. */
interface CountedTime {
  readonly tenant: string
  readonly from: number
  readonly to: number
  /** ms */
  readonly limitMs: number
  /** ms of its limit that it may have had before `from` */
  readonly hadBefore: number
}

/** How a client follows an answer that goes on. */
export interface Following {
  /** it goes when this resolves */
  readonly left?: Promise<void>
  /** told when it is let in, before anything comes */
  readonly opened?: () => void
}

/** answers to an operator, as clients get them */
const DONE: Answer = { status: 200, body: undefined, headers: {} }
const NOTHING_TO_DO: Answer = { status: 404, body: undefined, headers: {} }

const NEVER = new Promise<void>(() => undefined)

export class World {
  readonly loop: VirtualLoop
  readonly medium: Medium
  readonly notes: NoteBook
  readonly scripts: ScriptCalls
  readonly findings: Finding[] = []
  /** whether the medium ever took so long that time limits of calls can pass meanwhile */
  wasSlow = false
  /** when the store was in trouble, and by tenant, when inputs of rules first met it */
  readonly #troubles: { readonly from: number; to: number; readonly metAt: Map<string, number> }[] = []
  /** by how much the wall clock was set forward, and how much of that hosts may have counted for limits of calls */
  readonly #leaps: { readonly at: number; readonly ms: number; readonly counted: number }[] = []
  /** ms by which hosts are ahead of the wall clock, at most */
  #ahead = 0
  /** the wall clock was set back: the time of hosts passes slower from then on */
  #isSlow = false
  /** what happened, a line each: equal for equal runs */
  readonly history: string[] = []
  readonly counts = {
    /** requests, and what came of them */
    asked: 0,
    answered: 0,
    refused: 0,
    unknown: 0,
    /** connections that stay, and messages that were sent and read on them */
    joined: 0,
    sent: 0,
    read: 0,
    faults: 0,
    crashes: 0,
    failedStarts: 0,
    warnings: 0,
  }
  readonly #lanes = new Map<string, Promise<void>>()
  /** told when the machine dies */
  readonly #open = new Set<() => void>()
  #life: HostLife | undefined
  /** counts the lives, those that did not begin included */
  #lives = 0
  #isDown = true
  /** ms */
  #startAgainMs = START_AGAIN_MS.first
  #working = 0

  readonly #tenants: readonly string[]
  readonly #setting: Setting

  /** undefined: nobody but the host uses the store */
  readonly #words: ToldWords | undefined

  /** `asks`: routes that its clients ask; absent: any. */
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

  /** which life of the host it is */
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

  /** Work of a client; a lane's works follow each other. */
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

  /** Asks once. */
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
        // a host that has stopped lets nobody in
        () => tell({ kind: 'refused' }),
      )
    })
  }

  /**
   * What an operator does with the API keys, as a process beside the host that uses the same store. `work` gives false
   * when there was nothing to do; where it fails, nobody can say.
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

  /** Resolves when the host has heard that keys are others; never when it dies meanwhile. */
  tellKeyChange(): Promise<void> {
    return tellKeyChange({ tell: (word) => this.#words?.tell(word) ?? Promise.resolve() })
  }

  /** Begins something with the host that is up, whose end nobody hears when the machine dies or it takes too long. */
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

  /** The host that is up, and what tells when its machine dies. */
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

  /** Reads an answer that goes on, until it ends or the machine dies. False when there was none. */
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

  /** Asks what must be answered when all is well. */
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

  /** `turns`: when so many more things have happened. */
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
   * ms of that time that may count for the limit of a call: leaps do that are small, and what passed while the store was
   * well, or nobody had to notice that it is not, or it was well again before the limit.
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
        // The limit itself makes the host ask a store of which it has heard nothing lately. Before it may have passed at
        // the latest, it may be something else that asks, and what was before that counts.
        const isAsked =
          metAt >= last && one.from <= first - ASKED_AFTER_MS && one.to >= from + longest + ANSWERS_SOON_MS
        return sum + common(from, to, isAsked ? one.from : metAt, one.to)
      }, 0)
    return to - from - troubled + leapt
  }

  /** ms after which the limit of a call of that time passes, at the latest. */
  #longestLimit(from: number, to: number, limitMs: number): number {
    // from a leap that counts for nothing until a host has seen to it, nothing else counts either
    const isHeldUp = this.#leaps.some(({ at, ms, counted }) => counted < ms && at >= from && at <= to)
    return (isHeldUp ? 2 : 1) * (this.#isSlow ? limitMs / SLOWEST : limitMs)
  }

  /** ms of that time in which the store was not in trouble. */
  wellWithin(from: number, to: number): number {
    return to - from - this.#troubles.reduce((sum, one) => sum + common(from, to, one.from, one.to), 0)
  }

  /**
   * ms of that time by which the wall clock was set forward, where that may have been little: they count for limits. A
   * host makes up for them soon afterwards, and what it begins then is begun as if that were earlier.
   */
  leaptWithin(from: number, to: number): number {
    return this.#leaps
      .filter(({ at }) => at >= from - MADE_UP_MS && at <= to)
      .reduce((sum, { counted }) => sum + counted, 0)
  }

  /** A leap is as large for a host as it takes the clock beyond the time that the host has already. */
  #countedOf(ms: number): number {
    if (ms - this.#ahead >= SLEPT_IN_CALLS_MS) return 0
    return Math.min(ms, SLEPT_IN_CALLS_MS)
  }

  /** ms by which the wall clock was set forward since then, each time. */
  leapsSince(from: number): readonly number[] {
    return this.#leaps.filter(({ at }) => at >= from).map(({ ms }) => ms)
  }

  /** Faults end; what is under way comes to its end. */
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

  /** Lets work of clients be done while all is well. */
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

  /** Instead of the one that is on. */
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

  /** `seriesAt`: series are as they were then. */
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
    // what does not stop in time is killed
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
    // services of the tenant that had started were stopped: their calls are made again by the next ones, as after a crash
    if (/could not be opened|TenantServices\.open/.test(line)) this.notes.crashed()
    // nothing that goes wrong outside is an error inside
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

/** ms that two stretches of time have in common. */
function common(from: number, to: number, otherFrom: number, otherTo: number): number {
  return Math.max(0, Math.min(to, otherTo) - Math.max(from, otherFrom))
}
