/** The builds and processes of the functions of all tenants of a host. */
import { AppError, type Logger } from '#kernel'
import type { ProcessPool, Program, ProgramLine } from '#platform/sandbox'
import { Builder, type BuilderOptions } from './build.ts'
import type { InstallTools } from './install.ts'

export interface OpenedPool {
  /** undefined: functions are off */
  readonly pool: ProcessPool | undefined
  /** what the machine lacks for functions: a sentence each */
  readonly lacks: readonly string[]
  /** how what installs packages is kept from the machine; undefined: it is not */
  readonly tools?: InstallTools
}

export interface ProgramsOptions extends Omit<BuilderOptions, 'tools'> {
  /** Asked once, when the first function is to be run. */
  readonly openPool: (log: (program: Program, line: ProgramLine) => void) => Promise<OpenedPool>
  readonly logger?: Logger | undefined
}

type Said = (program: Program, line: ProgramLine) => void

export class FunctionPrograms {
  readonly builder: Builder
  readonly #options: ProgramsOptions
  /** who takes the lines of programs, by tenant */
  readonly #said = new Map<string, Said>()
  #opening: Promise<OpenedPool> | undefined
  #opened: OpenedPool | undefined

  constructor(options: ProgramsOptions) {
    const { openPool: _pool, logger: _logger, ...build } = options
    this.#options = options
    this.builder = new Builder({ ...build, tools: async () => (await this.#open()).tools })
  }

  /** processes that run */
  get processes(): number {
    return this.#opened?.pool?.running ?? 0
  }

  /** what the machine lacks for functions, once that was looked at: a sentence each */
  get lacks(): readonly string[] {
    return this.#opened?.lacks ?? []
  }

  /** ms of CPU time that functions of the tenant have taken so far */
  cpuMs(tenant: string): number {
    return this.#opened?.pool?.cpuMs(tenant) ?? 0
  }

  /** What the functions of a tenant run by; `said` gets the lines that they write. */
  of(tenant: string, said: Said): { readonly pool: () => Promise<ProcessPool | undefined>; close(): Promise<void> } {
    let isClosed = false
    this.#said.set(tenant, said)
    return {
      pool: async () => {
        if (isClosed) throw new AppError('CLOSED', 'the services of the tenant stop: no function is called any more')
        return (await this.#open()).pool
      },
      close: async () => {
        isClosed = true
        await (await this.#opening)?.pool?.releaseOwner(tenant)
        if (this.#said.get(tenant) === said) this.#said.delete(tenant)
      },
    }
  }

  async close(): Promise<void> {
    await (await this.#opening)?.pool?.close()
  }

  #open(): Promise<OpenedPool> {
    const { openPool, logger } = this.#options
    this.#opening ??= openPool((program, line) => this.#said.get(program.owner)?.(program, line)).then((opened) => {
      this.#opened = opened
      for (const lack of opened.lacks) logger?.warn(lack)
      return opened
    })
    return this.#opening
  }
}
