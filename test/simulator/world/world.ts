/** One run: a machine with its medium, the host on it, clients around it, and what they know. */
import { messageOf } from '../../../src/kernel/errors.ts'
import type { Plug } from '../../../src/plug.ts'
import { Chance } from './chance.ts'
import { startLife, type Answer, type HostLife, type Question } from './host-life.ts'
import { CALM, Medium } from './medium.ts'
import type { Fault } from './plan.ts'
import { network } from './network.ts'
import { notePlug, type NoteBook } from './note-plug.ts'
import type { VirtualLoop } from './virtual-loop.ts'

export const TENANTS = ['one', 'two'] as const

/** What a client knows of what it asked for. `refused`: nothing of it was done; `unknown`: nobody can say. */
export type Outcome =
  | { readonly kind: 'answered'; readonly answer: Answer }
  | { readonly kind: 'refused'; readonly answer?: Answer }
  | { readonly kind: 'unknown'; readonly answer?: Answer }

/** Something that must not be. */
export interface Finding {
  /** which of the oracles says so */
  readonly oracle: string
  readonly text: string
}

/** ms after which a client gives up; the host gives up earlier */
const PATIENCE_MS = 45_000
/** ms between two attempts to start a host that does not */
const START_AGAIN_MS = 2_000
/** ms within which a crash that waits for things to happen comes */
const SOON_MS = 2_000
/** ms of calm after which everything has come to rest */
export const REST_MS = 150_000

/** How a client follows an answer that goes on. */
export interface Following {
  /** it goes when this resolves */
  readonly left?: Promise<void>
  /** told when it is let in, before anything comes */
  readonly opened?: () => void
}

const NEVER = new Promise<void>(() => undefined)

export class World {
  readonly loop: VirtualLoop
  readonly medium: Medium
  readonly notes: NoteBook
  readonly findings: Finding[] = []
  /** whether the medium ever took so long that time limits of calls can pass meanwhile */
  wasSlow = false
  /** what happened, a line each: equal for equal runs */
  readonly history: string[] = []
  readonly counts = { asked: 0, answered: 0, refused: 0, unknown: 0, crashes: 0, failedStarts: 0, warnings: 0 }
  readonly #plugs: readonly Plug[]
  readonly #lanes = new Map<string, Promise<void>>()
  /** told when the machine dies */
  readonly #open = new Set<() => void>()
  #life: HostLife | undefined
  /** counts the lives, those that did not begin included */
  #lives = 0
  #isDown = true
  #working = 0

  constructor(loop: VirtualLoop, seed: string) {
    this.loop = loop
    network.forget()
    this.medium = new Medium(loop, new Chance(`medium ${seed}`))
    const { plug, book } = notePlug(loop, new Chance(`plugs ${seed}`), (line) => this.tell(line))
    this.notes = book
    this.#plugs = [plug]
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
    void Promise.all(TENANTS.map((tenant) => keyPairs.add({ key: tenant, secret: 'secret', tenant }))).then(() => {
      made = true
    })
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
    const life = this.#life
    if (life === undefined) return Promise.resolve({ kind: 'refused' })
    return new Promise((resolve) => {
      const giveUp = (): void => {
        this.#open.delete(giveUp)
        resolve({ kind: 'unknown' })
      }
      this.#open.add(giveUp)
      const patience = this.loop.after(PATIENCE_MS, giveUp, 'client')
      const tell = (outcome: Outcome): void => {
        patience.isOff = true
        this.#open.delete(giveUp)
        resolve(outcome)
      }
      void life.ask(question).then(
        (answer) =>
          tell({ kind: answer.status >= 500 ? 'unknown' : answer.status < 400 ? 'answered' : 'refused', answer }),
        // a host that has stopped lets nobody in
        () => tell({ kind: 'refused' }),
      )
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
    this.tell(`${question.tenant} follows ${question.url} ${JSON.stringify(question.headers)}`)
    const died = this.#death().then(() => false as const)
    const begun = (): void => {
      if (number === this.#lives) opened?.()
    }
    const asked = life.follow(question, { begun, left }, (text) => {
      if (number === this.#lives) heard(text)
    })
    const answer = await Promise.race([asked.catch(() => false as const), died])
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

  async apply(step: Fault): Promise<void> {
    this.tell(`FAULT ${JSON.stringify(step)}`)
    if (step.fault === 'crash') {
      const due = this.loop.happened + step.turns
      await this.loop.run(() => this.loop.happened >= due, this.now + SOON_MS)
      this.tell('the process dies')
      return this.#crash(step.downMs)
    }
    if (step.fault === 'restart') return this.#restart(step.downMs)
    if (
      step.fault === 'trouble' ||
      (step.fault === 'manners' && (step.manners.writeMs >= 200 || step.manners.refused > 0))
    ) {
      this.wasSlow = true
    }
    if (step.fault === 'trouble') {
      this.medium.begin(step.kind)
      this.loop.after(step.ms, () => this.medium.end(), 'world')
    } else if (step.fault === 'manners') this.medium.manners = step.manners
    else if (step.fault === 'clock') this.loop.stepWall(step.ms)
    else this.notes.behaviour = step
  }

  /** Faults end; what is under way comes to its end. */
  async settle(): Promise<void> {
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

  async #crash(downMs: number): Promise<void> {
    if (this.#isDown) return
    this.counts.crashes++
    this.#isDown = true
    this.#life = undefined
    this.#lives++
    this.loop.forget()
    network.forget()
    await this.medium.crash()
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
    void startLife(this.medium, this.#plugs, (line) => this.#logged(line)).then(
      (life) => {
        if (number === this.#lives) this.#life = life
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
        this.loop.after(START_AGAIN_MS, () => this.#start(), 'world')
      },
    )
  }

  #logged(line: string): void {
    const { msg, err, level } = JSON.parse(line) as { msg?: string; level: number; err?: { stack?: string } }
    if (msg?.includes('describes its API') === true) return
    this.counts.warnings++
    this.tell(`LOG ${level} ${msg ?? ''} ${err?.stack ?? ''}`)
    // nothing that goes wrong outside is an error inside
    if (/TypeError|RangeError|ReferenceError|internal error|Reply was already sent/i.test(line))
      this.find('no error inside', line)
  }

  #requireLife(): HostLife {
    if (this.#life === undefined) throw new Error('no host is up')
    return this.#life
  }
}

function short(body: unknown): string {
  const text = typeof body === 'string' ? body : (JSON.stringify(body) ?? '')
  return text.length > 600 ? `${text.slice(0, 600)}...` : text
}
