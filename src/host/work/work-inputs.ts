/** Defines the kinds of work that threads do, with their inputs and handlers. */
import type { NextRunsOptions } from '#core'
import type { CancelSignal } from '#kernel'
import type { ProofRequest } from '#mcp'
import type { ConversionWork } from '#services/converter/conversion'
import type { DeployedPlug } from '#services/functions/contract'
import type {
  DocumentCheck,
  PlugCause,
  PlugFamily,
  RehearsalWork,
  RunSource,
  TemplateRunOptions,
} from '#services/rules'

/** Lets a thread call services of the thread that sent the work. */
export interface CallingThread {
  later(port: string, method: string, args: readonly unknown[], signal?: CancelSignal): Promise<unknown>
  /** Calls a service and blocks until the reply. */
  atOnce(port: string, method: string, args: readonly unknown[]): unknown
}

/** What a tenant's rules can use: services of the sending thread, by name, and the tenant's functions. */
export interface RulesContext {
  readonly tenant: string
  readonly now: number
  readonly services: Readonly<Record<string, readonly string[]>>
  readonly ports: readonly string[]
  readonly functions: readonly DeployedPlug[]
  readonly plugModules: readonly string[]
}

/** Inputs by kind of work, as plain data. */
export interface WorkInputs {
  readonly script: { readonly code: string; readonly input: string }
  readonly convert: ConversionWork
  readonly test: { readonly text: string }
  readonly prepare: ConversionWork['converter']
  readonly simulate: RulesContext & { readonly input: unknown }
  readonly rehearse: RulesContext & { readonly work: RehearsalWork; readonly keepsInputs: boolean }
  readonly run: RulesContext & {
    readonly stored: RunSource | undefined
    readonly input: unknown
    readonly options: TemplateRunOptions
  }
  readonly call: RulesContext & {
    readonly family: PlugFamily
    readonly name: string
    readonly version: string | undefined
    readonly input: unknown
    readonly cause: PlugCause | undefined
  }
  readonly check: RulesContext & { readonly specification: unknown; readonly options: DocumentCheck }
  readonly prove: ProofRequest
  readonly variables: { readonly graph: unknown }
  readonly schedule: { readonly expression: string; readonly options: NextRunsOptions }
}

/** Handles one kind of work; returns plain data. */
export type WorkHandler<Input> = (input: Input, ask: CallingThread, signal: AbortSignal) => unknown

export type WorkName = keyof WorkInputs

export type WorkHandlers<Names extends WorkName> = { readonly [Name in Names]: WorkHandler<WorkInputs[Name]> }
export type RulesWork = WorkHandlers<'simulate' | 'rehearse' | 'run' | 'call' | 'check' | 'variables' | 'schedule'>
