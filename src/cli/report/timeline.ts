/** Prints the firings of a run, line by line. */
import type { EngineEvent, FiredEvent, Why } from '#core'
import { causeOf, whySteps } from '#core/sentences'
import { counted } from '../numbers.ts'
import type { Paint } from '../terminal.ts'
import { formatTime } from '../time-text.ts'
import type { Zone } from '../zone.ts'
import { visible } from '../visible.ts'

const SHOWN = 200
const MAX_MESSAGE = 500

export interface TimelineOptions {
  zone: Zone
  paint: Paint
  why: boolean
  all: boolean
  width: number
  write(text: string): void
}

interface Entry {
  time: number
  fired: FiredEvent | undefined
  messages: string[]
}

/** Without `all`, only the first and last hundred firings, so that memory does not grow with the run. */
export class Timeline {
  readonly #options: TimelineOptions
  /** Entries of the current moment, which further events may still change */
  #open: Entry[] = []
  readonly #tail: Entry[] = []
  #printed = 0
  #leftOut = 0

  constructor(options: TimelineOptions) {
    this.#options = options
  }

  take(event: EngineEvent): void {
    if (event.type === 'fired') {
      this.#settle(event.time)
      this.#open.push({ time: event.time, fired: event, messages: [] })
    } else if (event.type === 'result' && event.message !== undefined) {
      this.#settle(event.time)
      this.#message(event.time, event.node, event.message)
    }
  }

  end(): void {
    this.#settle(Number.POSITIVE_INFINITY)
    if (this.#leftOut > 0) {
      const { paint, write } = this.#options
      write(paint('dim', `... ${counted(this.#leftOut, 'more line')} in between (--all prints them)\n`))
    }
    for (const entry of this.#tail) this.#print(entry)
  }

  #message(time: number, node: string, message: string): void {
    const entry = this.#open.find(({ fired, messages }) => fired?.node === node && messages.length === 0)
    const text = message.length > MAX_MESSAGE ? `${message.slice(0, MAX_MESSAGE - 3)}...` : message
    if (entry !== undefined) entry.messages.push(text)
    else this.#open.push({ time, fired: undefined, messages: [`${node}: ${text}`] })
  }

  #settle(now: number): void {
    const [first] = this.#open
    if (first === undefined || first.time >= now) return
    const settled = this.#open
    this.#open = []
    for (const entry of settled) {
      if (this.#options.all || this.#printed < SHOWN / 2) {
        this.#printed++
        this.#print(entry)
        continue
      }
      this.#tail.push(entry)
      if (this.#tail.length > SHOWN / 2) {
        this.#tail.shift()
        this.#leftOut++
      }
    }
  }

  #print({ time, fired, messages }: Entry): void {
    const { zone, paint, why, width, write } = this.#options
    const stamp = formatTime(time, zone)
    const indent = ' '.repeat(stamp.length + 2)
    const lines: string[] = []
    if (fired !== undefined) {
      lines.push(
        `${paint('dim', stamp)}  ${paint(['bold', 'yellow'], fired.node.padEnd(width))}  ${visible(causeOf(fired))}`,
      )
    }
    for (const message of messages) {
      const start = lines.length === 0 ? `${paint('dim', stamp)}  ` : indent
      lines.push(`${start}${paint('cyan', visible(message))}`)
    }
    if (why && fired?.why !== undefined) lines.push(...whyLines(fired.why, zone, paint).map((line) => indent + line))
    write(`${lines.join('\n')}\n`)
  }
}

export function whyLines(why: Why, zone: Zone, paint: Paint): string[] {
  const steps = whySteps(why, (instant) => formatTime(instant, zone))
  return steps.map(({ kind, text }, index) => {
    const branch = index === steps.length - 1 ? '└' : '├'
    return `${paint('dim', `${branch} ${kind.padEnd(7)}`)} ${visible(text)}`
  })
}
