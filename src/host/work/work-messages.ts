/** What threads of heavy work are sent, and what they send. */
import { AppError, messageOf, type ErrorCode, type Issue } from '../../kernel/errors.ts'

/** What a thread is started with. */
export interface WorkThreadData {
  /** The work of scripts is only counted; else they also end after a second */
  readonly onlyCounted: boolean
  /** destinations of callURL that may be private, as `--allow-url` has them */
  readonly allowUrl: readonly string[]
  /** one number, which grows with each reply: a thread that needs one at once sleeps on it */
  readonly replies: SharedArrayBuffer
}

export type ToThread =
  | { readonly kind: 'begin'; readonly run: number; readonly name: string; readonly input: unknown }
  /** the answer is not wanted any more */
  | { readonly kind: 'abort'; readonly run: number }
  | { readonly kind: 'reply'; readonly id: number; readonly value: unknown }
  | { readonly kind: 'refused'; readonly id: number; readonly failure: Failure }

export type FromThread =
  | { readonly kind: 'ready' }
  | { readonly kind: 'answer'; readonly value: unknown; readonly cpuMs: number }
  | { readonly kind: 'failure'; readonly failure: Failure; readonly cpuMs: number }
  | { readonly kind: 'ask'; readonly run: number; readonly id: number; readonly asked: Question }
  /** the thread does not want that reply any more */
  | { readonly kind: 'abandon'; readonly id: number }

/** What work asks of the thread that gave it. */
export interface Question {
  readonly port: string
  readonly method: string
  readonly args: readonly unknown[]
  /** the thread sleeps until the reply, which therefore must not wait */
  readonly atOnce: boolean
}

/** An error without its class; `code` is absent for what was not an AppError. */
export interface Failure {
  readonly code?: ErrorCode
  readonly message: string
  readonly issues: readonly Issue[]
}

export function failureOf(thrown: unknown): Failure {
  if (thrown instanceof AppError) return { code: thrown.code, message: thrown.message, issues: thrown.issues }
  return { message: messageOf(thrown), issues: [] }
}

export function errorOf({ code, message, issues }: Failure): Error {
  return code === undefined ? new Error(message) : new AppError(code, message, { issues })
}
