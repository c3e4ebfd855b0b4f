/**
 * Contract between a service and the host. The host adds authentication, limits, body parsing, validation, error
 * handling, the API page, metrics and graceful shutdown.
 *
 * `open` receives the store and the neighbours of a service, once per tenant.
 */
import type { FastifyInstance } from 'fastify'
import type { Causation } from '#kernel'
import type { ErrorBody } from './failure.ts'
import type { TenantDependencies, TenantService } from './wiring/tenant-service.ts'

export interface HostedService {
  /** Lower-case name, as in `--only`; also its tag on the API page */
  readonly name: string
  /** Line for the API page */
  readonly description: string
  /** Path of a GET with a visible result, for the host's first curl line */
  readonly example?: string
  /** Fills an empty store with a small example; called once, after `start`. */
  demo?(tenant: string): Promise<Demo>
  /** Adds the routes with their full paths. Hooks stay inside of `app`, the service's own scope. */
  routes(app: FastifyInstance): void | Promise<void>
  readonly address?: () => string | undefined
  /** Error format of this service; default `{ statusCode, error, code, details? }` */
  readonly errorBody?: ErrorBody
  /** Opens the service for one tenant. Limits and processes shared by all tenants belong to the adapter. */
  readonly open?: (parts: TenantDependencies) => TenantService
  /**
   * Called before the first request. The signal aborts when the host stops accepting requests: endless answers must end
   * then, except those of type `text/event-stream`, which the host ends.
   */
  start?(closing: AbortSignal): Promise<void>
  /** Called once, after the last answer and before tenants are closed, even after a failed start. */
  stop?(): void | Promise<void>
  /** Problems to fix although the host works, for /health: a sentence each */
  readonly warnings?: () => readonly string[]
  /** Called after all tenants are closed: releases what they share. */
  end?(): void | Promise<void>
}

/** Requests to try, in this order. */
export interface Demo {
  /** Purpose in one line */
  readonly about: string
  readonly requests: readonly DemoRequest[]
}

export interface DemoRequest {
  readonly path: string
  /** JSON body of a POST; absent: a GET */
  readonly body?: object
}

/** Whether a route requires credentials. Routes of scope `public` and `loopback` check their callers themselves. */
export function asksForKey({ scope }: { readonly scope?: string }): boolean {
  return scope !== 'public' && scope !== 'loopback'
}

declare module 'fastify' {
  interface FastifyRequest {
    /** Tenant of the credentials; empty on routes without credentials */
    tenant: string
    /** API key, or the subject of a token */
    user: string
    /** Causation of a request made by rules; passed on by routes whose work triggers rules */
    readonly led: Causation | undefined
  }
  interface FastifyContextConfig {
    isTenantContent?: boolean
    /** Handler reads the body as a stream, of any type and encoding */
    takesStream?: boolean
    /** Messages in the body: integers beyond double precision keep their digits */
    takesMessages?: boolean
    /** Device payload in the body, a `Payload` for a template */
    takesPayload?: boolean
    /** Long bodies arrive as bytes: their JSON is parsed where the work is done */
    takesBytes?: boolean
    /** Handler evaluates `If-Match` and `If-None-Match`; other routes that write reject them */
    isConditional?: boolean
    /** Route that redirects browsers to the API page */
    isRoot?: boolean
  }
}
