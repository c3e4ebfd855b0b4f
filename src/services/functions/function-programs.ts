/** Builds and processes of functions, shared by the tenants of a host. */
import { AppError, type Logger } from '#kernel'
import type { ProcessPool, Program, ProgramLine } from '#platform/sandbox'
import { Builder, type BuilderOptions } from './build.ts'
import type { InstallTools } from './install.ts'

export interface OpenedPool {
  readonly pool: ProcessPool | undefined
  /** what the machine lacks to confine functions: a sentence each */
  readonly lacks: readonly string[]
  /** confines the tools that install packages */
  readonly tools?: InstallTools
}

export interface ProgramsOptions extends Omit<BuilderOptions, 'tools'> {
  /** Called once, for the first function. */
  readonly openPool: (log: (program: Program, line: ProgramLine) => void) => Promise<OpenedPool>
  readonly logger?: Logger | undefined
}

type OnLine = (program: Program, line: ProgramLine) => void

export class FunctionPrograms {
  readonly builder: Builder
  readonly #options: ProgramsOptions
  readonly #listeners = new Map<string, OnLine>()
  #opening: Promise<OpenedPool> | undefined
  #opened: OpenedPool | undefined

  constructor(options: ProgramsOptions) {
    const { openPool: _pool, logger: _logger, ...build } = options
    this.#options = options
    this.builder = new Builder({ ...build, tools: async () => (await this.#open()).tools })
  }

  get processes(): number {
    return this.#opened?.pool?.running ?? 0
  }

  /** what the machine lacks, once it was inspected */
  get lacks(): readonly string[] {
    return this.#opened?.lacks ?? []
  }

  /** ms of CPU time of a tenant's functions so far */
  cpuMs(tenant: string): number {
    return this.#opened?.pool?.cpuMs(tenant) ?? 0
  }

  /** The processes of a tenant; `onLine` receives their lines. */
  of(
    tenant: string,
    onLine: OnLine,
  ): { readonly pool: () => Promise<ProcessPool | undefined>; close(): Promise<void> } {
    let isClosed = false
    this.#listeners.set(tenant, onLine)
    return {
      pool: async () => {
        if (isClosed) throw new AppError('CLOSED', 'the services of the tenant stop: no function is called any more')
        return (await this.#open()).pool
      },
      close: async () => {
        isClosed = true
        await (await this.#opening)?.pool?.releaseOwner(tenant)
        if (this.#listeners.get(tenant) === onLine) this.#listeners.delete(tenant)
      },
    }
  }

  async close(): Promise<void> {
    await (await this.#opening)?.pool?.close()
  }

  #open(): Promise<OpenedPool> {
    const { openPool, logger } = this.#options
    this.#opening ??= openPool((program, line) => this.#listeners.get(program.owner)?.(program, line)).then(
      (opened) => {
        this.#opened = opened
        for (const lack of opened.lacks) logger?.warn(lack)
        return opened
      },
    )
    return this.#opening
  }
}
