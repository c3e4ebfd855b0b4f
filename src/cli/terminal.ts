/** Wraps stdout and stderr, which commands use only through this file. */
import { styleText } from 'node:util'

type Style = Parameters<typeof styleText>[0]

export type Paint = (style: Style, text: string) => string

export interface Terminal {
  out(text: string): void
  err(text: string): void
  readonly paint: Paint
  readonly outIsTerminal: boolean
  readonly errIsTerminal: boolean
  /** True when the reader of stdout has ended (`| head`), so that work can stop */
  readonly closed: boolean
  /** True when the reader of stdout is slow: wait for `drained` before writing much more */
  readonly full: boolean
  drained(): Promise<void>
}

export const plain: Paint = (_style, text) => text

const coloured: Paint = (style, text) => styleText(style, text, { validateStream: false })

/** Colours only when stdout is a terminal and NO_COLOR is unset or empty. */
export function processTerminal(): Terminal {
  const { env } = process
  // Contrary to its types, Node omits isTTY if the stream is not a terminal.
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
