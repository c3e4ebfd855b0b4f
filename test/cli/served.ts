import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { once } from 'node:events'
import type { Readable } from 'node:stream'
import { bareEnvironment } from '../support/bare-environment.ts'
import { builtCode } from '../support/built-code.ts'

const SERVE: readonly [string, ...string[]] = [process.execPath, builtCode('cli.js'), 'serve']

/** Runs `reflexarc serve` as a child process, which is killed when the object goes out of scope. */
export class Served implements AsyncDisposable {
  stdout = ''
  stderr = ''
  readonly #child: ChildProcessByStdio<null, Readable, Readable>
  readonly #closed: Promise<number | null>

  constructor(cwd: string, args: readonly string[], env: Record<string, string> = {}, command = SERVE) {
    const [program, ...first] = command
    this.#child = spawn(program, [...first, ...args], {
      cwd,
      env: { ...bareEnvironment, PORT: '0', ...env },
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    this.#child.stdout.setEncoding('utf8').on('data', (text: string) => (this.stdout += text))
    this.#child.stderr.setEncoding('utf8').on('data', (text: string) => (this.stderr += text))
    this.#closed = once(this.#child, 'close').then(([code]) => code as number | null)
  }

  /** Waits for the ready lines and parses them; `demo`: the suggested commands. */
  async ready(): Promise<{ url: string; user: string; asked: string; demo: readonly string[] }> {
    const ended = this.#closed.then(() => {
      throw new Error(`serve ended: ${this.stderr}`)
    })
    while (this.stdout.split('\n').length < 4) await Promise.race([once(this.#child.stdout, 'data'), ended])
    const match =
      /^reflexarc listening on (http:\/\/127\.0\.0\.1:\d+)\nlog in [^\n]+\n(?:lost [^\n]+\n)?curl -u (\S+) (\S+)\n(?:# [^\n]+\n([^]+)\n)?$/.exec(
        this.stdout,
      )
    const [, url = '', user = '', asked = '', demo] = match ?? []
    return { url, user, asked, demo: demo?.split('\n') ?? [] }
  }

  /** Returns the host's address once it listens. */
  async listening(): Promise<string> {
    const ended = this.#closed.then(() => {
      throw new Error(`serve ended: ${this.stderr}`)
    })
    for (;;) {
      const url = /^reflexarc listening on (\S+)\n/.exec(this.stdout)?.[1]
      if (url !== undefined) return url
      await Promise.race([once(this.#child.stdout, 'data'), ended])
    }
  }

  /** Sends SIGHUP, which makes the host reload its files. */
  hangUp(): void {
    this.#child.kill('SIGHUP')
  }

  async end(signal: 'SIGTERM' | 'SIGINT'): Promise<number | null> {
    this.#child.kill(signal)
    return this.#closed
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#child.kill('SIGKILL')
    await this.#closed
  }
}
