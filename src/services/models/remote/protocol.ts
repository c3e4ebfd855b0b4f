/** What the protocols of servers of models have in common. */
import { AppError, type Json } from '#kernel'
import type { ModelCall, Signature } from '../driver.ts'

/** A model that its server has, and is ready there. */
export interface OpenRemote {
  /** at least one */
  readonly signatures: readonly Signature[]
  /** One request; errors are those of a driver. */
  call(call: ModelCall): Promise<readonly Json[]>
}

/** The path of a model below `/v1` or `/v2`: its name, and its version if there is one. */
export function pathOfModel(model: string): string {
  return `/models/${model.split('/').map(encodeURIComponent).join('/')}`
}

/** What a server does not have, or is not ready for. */
export function notReady(host: string, model: string): AppError {
  return new AppError('REMOTE_FAILED', `${host} has no model ${model} that is ready`)
}

export function wrongAnswer(host: string, what: string): AppError {
  return new AppError('MODEL_FAILED', `${host} answered what cannot be read: ${what}`)
}
