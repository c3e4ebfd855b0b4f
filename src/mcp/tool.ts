/** Defines what a tool of an assistant is: a name, a scope, a schema of its input, and a call through the client. */
import type { TSchema } from 'typebox'
import type { Client } from '#client'
import type { Scope } from '#kernel'
import type { Decoded } from '#services/shared/contract'
import { checked } from '#services/shared/contract'
import type { Proved, ProofRequest } from './proof-schema.ts'

export interface ToolContext {
  /** acts with the credentials of the assistant's user */
  readonly client: Client
  /** Runs a proof in a thread or process of its own. */
  prove(request: ProofRequest): Promise<Proved>
  /** aborts when the assistant cancels the call or disconnects */
  readonly signal: AbortSignal
}

export interface Tool {
  /** letters and `_` */
  readonly name: string
  readonly title: string
  /** constant: contains nothing that a tenant stores */
  readonly description: string
  /** the scope that the calls of the tool require of a key */
  readonly scope: Scope
  /** JSON schema of the arguments */
  readonly input: TSchema
  /** whether it stores something; none of the tools deletes */
  readonly writes: boolean
  /** Returns plain JSON. Throws AppErrors, `VALIDATION` for wrong arguments with all problems. */
  call(args: unknown, context: ToolContext): Promise<object>
}

interface ToolDefinition<S extends TSchema> extends Omit<Tool, 'input' | 'call' | 'writes'> {
  readonly input: S
  readonly writes?: boolean
  call(args: Decoded<S>, context: ToolContext): Promise<object>
}

export function toolOf<const S extends TSchema>({ input, writes = false, call, ...tool }: ToolDefinition<S>): Tool {
  const reader = checked(input, { subject: `the arguments of ${tool.name}` })
  return { ...tool, input, writes, call: (args, context) => call(reader.read(args ?? {}), context) }
}
