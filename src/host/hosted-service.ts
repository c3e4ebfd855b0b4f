/**
 * What a service gives to the host: the frame that every service stands in. The host adds what is the same for all:
 * authentication, limits, body reading, validation, error handling, the API page, metrics and a graceful stop.
 *
 * Not in here: what a service stores or whom it calls. `open` receives both, once for each tenant.
 */
import type { FastifyInstance } from 'fastify'
import type { Causation } from '#kernel'
import type { ErrorBody } from './failure.ts'
import type { TenantDependencies, TenantService } from './wiring/tenant-service.ts'

export interface HostedService {
  /** lower-case, as `--only` takes it; also its tag on the API page */
  readonly name: string
  /** one line for the API page */
  readonly description: string
  /** a path that answers GET with something to see; the host's first curl line asks it */
  readonly example?: string
  /** Puts something small to look at into a store that has nothing; called once, after `start`. */
  demo?(tenant: string): Promise<Demo>
  /** Adds the routes with their full paths. `app` is the service's own scope: hooks stay inside. */
  routes(app: FastifyInstance): void | Promise<void>
  /** where it listens besides, once it has started; told when the host is ready */
  readonly address?: () => string | undefined
  /** this service's shape of errors; default `{ statusCode, error, code, details? }` */
  readonly errorBody?: ErrorBody
  /** Makes what one tenant has of it. Bounds and programs that all tenants share belong to the host's part. */
  readonly open?: (parts: TenantDependencies) => TenantService
  /**
   * Before the first request. The signal aborts when the host stops taking requests: answers that never end must end
   * then. Those of type `text/event-stream` the host ends itself.
   */
  start?(closing: AbortSignal): Promise<void>
  /** After the last answer, and before what tenants have ends. Called once, even when `start` failed or never came. */
  stop?(): void | Promise<void>
  /** what the operator should fix although the host works, for /health: a sentence each */
  readonly warnings?: () => readonly string[]
  /** After what tenants have has ended: lets go what they share. */
  end?(): void | Promise<void>
}

/** Requests that are worth a try, in this order. */
export interface Demo {
  /** one line that tells what they show */
  readonly about: string
  readonly requests: readonly DemoRequest[]
}

export interface DemoRequest {
  readonly path: string
  /** sent as JSON by POST; absent: a GET */
  readonly body?: object
}

/** Whether a route asks for credentials. `public` and `loopback` do not: the route itself checks what has to be checked. */
export function asksForKey({ scope }: { readonly scope?: string }): boolean {
  return scope !== 'public' && scope !== 'loopback'
}

declare module 'fastify' {
  interface FastifyRequest {
    /** of the credentials; empty on routes that need none */
    tenant: string
    /** the API key, or the subject of a token */
    user: string
    /** of a request that rules led to: routes whose work wakes rules hand it on */
    readonly led: Causation | undefined
  }
  interface FastifyContextConfig {
    /** it serves what tenants wrote, and so on the origin of webscripts too, where no other route answers */
    isTenantContent?: boolean
    /** its handler takes the body as it comes: of any type and coding, for as long as it comes */
    takesStream?: boolean
    /** its body are messages: whole numbers that no number keeps stay as they are written */
    takesMessages?: boolean
    /** its body is what a device sends, for a template: a `Payload` */
    takesPayload?: boolean
    /** a long body comes as its bytes: JSON that is read where the work is done */
    takesBytes?: boolean
    /** it reads `If-Match` and `If-None-Match`; other routes that write refuse them */
    isConditional?: boolean
    /** the route that browsers are led away from, to the page of the API */
    isRoot?: boolean
  }
}
