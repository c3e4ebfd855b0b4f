/** The screen as commands may use it; nothing else writes to stdout and stderr. */
import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

/** Colours a text, or leaves it alone where colours are not wanted. */
export type Paint = (style: Style, text: string) => string

/** What a command may do to the screen. Nothing else in the command line writes to stdout or stderr. */
export interface Terminal {
  out(text: string): void
  err(text: string): void
  /** for stdout */
  readonly paint: Paint
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** true when the reader of stdout went away (`| head`): no need to work on */
  readonly closed: boolean
  /** true when the reader of stdout is slower than we are: wait for `drained` before writing much more */
  readonly full: boolean
  drained(): Promise<void>
}

export const plain: Paint = (_style, text) => text

const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false })

/** The terminal of this process. Colours only when stdout is a terminal and NO_COLOR is unset or empty. */
export function processTerminal(): Terminal {
  const { env } = process
  // Not a terminal: Node leaves isTTY out, which its types do not say.
  const stdout: typeof process.stdout & { isTTY?: boolean } = process.stdout
  const stderr: typeof process.stderr & { isTTY?: boolean } = process.stderr
  let closed = false
  stdout.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE') throw error
    closed = true
  })
  stderr.on('error', () => {})
  const drained = (): Promise<void> =>
    new Promise((resolve) => {
      const events = ['drain', 'error', 'close']
      const done = () => {
        for (const event of events) stdout.off(event, done)
        resolve()
      }
      for (const event of events) stdout.on(event, done)
    })
  return {
    out(text) {
      if (!closed) stdout.write(text)
    },
    err(text) {
      stderr.write(text)
    },
    paint: stdout.isTTY && !env['NO_COLOR'] ? coloured : plain,
    outIsTerminal: stdout.isTTY ?? false,
    errIsTerminal: stderr.isTTY ?? false,
    get closed() {
      return closed
    },
    get full() {
      return !closed && stdout.writableNeedDrain
    },
    drained,
  }
}
