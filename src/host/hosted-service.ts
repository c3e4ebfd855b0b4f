/**
 * Defines the contract between a service and the host. The host adds authentication, limits, body parsing, validation,
 * error handling, the API page, metrics and graceful shutdown.
 *
 * `open` receives the store and the tenant's other services, once per tenant.
 */
import type { FastifyInstance } from 'fastify'
import type { Causation } from '#kernel'
import type { CheckedCaller } from './auth/caller.ts'
import type { ErrorBody } from './failure.ts'
import type { TenantDependencies, TenantService } from './wiring/tenant-service.ts'

export interface HostedService {
  /** Lower-case name, used by `--only` and as the tag on the API page */
  readonly name: string
  readonly description: string
  /** Path of a GET with a visible result, shown in the host's first curl example */
  readonly example?: string
  /** Adds the routes with their full paths. Hooks must stay inside `app`, the service's own scope. */
  routes(app: FastifyInstance): void | Promise<void>
  /** Addresses of listeners beside that of the API */
  readonly addresses?: () => readonly string[]
  /** Error format of this service; default `{ statusCode, error, code, details? }` */
  readonly errorBody?: ErrorBody
  readonly open?: (parts: TenantDependencies) => TenantService
  /**
   * The signal aborts when the host stops accepting requests: endless responses must end, except `text/event-stream`.
   */
  start?(closing: AbortSignal): Promise<void>
  /** Called once, after the last response and before tenants are closed, even after a failed start. */
  stop?(): void | Promise<void>
  /** Returns problems to fix although the host works, one sentence each, for /health */
  readonly warnings?: () => readonly string[]
  /** Called after all tenants are closed, to release what the tenants shared. */
  end?(): void | Promise<void>
}

export interface Demo {
  readonly about: string
  readonly requests: readonly DemoRequest[]
}

export interface DemoRequest {
  readonly path: string
  /** JSON body of a POST; absent: the request is a GET */
  readonly body?: object
}

/** Whether a route requires credentials. Routes with scope `public` check their callers themselves. */
export function asksForKey({ scope }: { readonly scope?: string }): boolean {
  return scope !== 'public'
}

declare module 'fastify' {
  interface FastifyRequest {
    tenant: string
    /** API key, or the subject of a token */
    user: string
    /** The rule execution that caused the request, if any; routes whose work triggers rules pass it on */
    readonly led: Causation | undefined
    /** The caller as authentication found it; absent on public routes */
    credentials?: CheckedCaller | undefined
  }
  interface FastifyContextConfig {
    isTenantContent?: boolean
    /** The handler reads the body as a stream of any type and encoding */
    takesStream?: boolean
    /** The body contains messages: integers beyond double precision keep their digits */
    takesMessages?: boolean
    /** The body is a device payload, passed to templates as a `Payload` */
    takesPayload?: boolean
    /** Long bodies arrive as bytes; the JSON is parsed by the thread that does the work */
    takesBytes?: boolean
    /** The handler evaluates `If-Match` and `If-None-Match`; other writing routes reject these headers */
    isConditional?: boolean
    /** This route redirects browsers to the API page */
    isRoot?: boolean
  }
}
