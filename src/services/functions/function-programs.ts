/** Manages builds and processes of functions, shared by the tenants of a host. */
import { AppError, type Logger } from '#kernel'
import type { ProcessPool, Program, ProgramLine } from '#platform/sandbox'
import { Builder, type BuilderOptions } from './build.ts'
import type { InstallTools } from './install.ts'

export interface OpenedPool {
  readonly pool: ProcessPool | undefined
  /** sentences about what the machine lacks to confine functions */
  readonly lacks: readonly string[]
  /** confines the tools that install packages */
  readonly tools?: InstallTools
}

export interface ProgramsOptions extends Omit<BuilderOptions, 'tools'> {
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

  /** What the machine lacks to confine functions, once it has been inspected. */
  get lacks(): readonly string[] {
    return this.#opened?.lacks ?? []
  }

  cpuMs(tenant: string): number {
    return this.#opened?.pool?.cpuMs(tenant) ?? 0
  }

  /** `onLine` receives the lines that the processes write. */
  of(
    tenant: string,
    onLine: OnLine,
  ): { readonly pool: () => Promise<ProcessPool | undefined>; close(): Promise<void> } {
    let isClosed = false
    this.#listeners.set(tenant, onLine)
    return {
      pool: async () => {
        if (isClosed)
          throw new AppError('CLOSED', 'the services of the tenant are stopping: functions are no longer called')
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
