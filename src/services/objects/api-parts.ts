/** Helpers shared by the routes of object storage. */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '#kernel'
import { addRoutes, linkTo, type Refusal, type Route } from '#services/shared'
import { ErrorSchema } from './object-schema.ts'
import { BASE } from './show.ts'

export function at<const Path extends string>(path: Path) {
  return { path: `${BASE}${path}` as const, aliases: [path] as readonly string[] }
}

export function originOf(request: FastifyRequest): string {
  return linkTo(request, '')
}

export function hrefWith(href: string, query: unknown, change: Readonly<Record<string, string | undefined>>): string {
  const parameters = new URLSearchParams(query as Readonly<Record<string, string>>)
  for (const [name, value] of Object.entries(change)) {
    if (value === undefined) parameters.delete(name)
    else parameters.set(name, value)
  }
  return parameters.size === 0 ? href : `${href}?${parameters.toString()}`
}

export async function addObjectRoutes<Api>(
  app: FastifyInstance,
  service: { as(caller: Caller): Api },
  { tag, routes }: { readonly tag: string; readonly routes: readonly Route<Api>[] },
): Promise<void> {
  await app.register(async (scope) => {
    scope.addHook('preSerialization', (_request, reply, payload, next) => {
      reply.code(statusOf(reply.statusCode))
      next(null, payload)
    })
    await addRoutes(scope, service, { tag, errors: ErrorSchema, routes })
  })
}

export function objectsErrorBody({ statusCode, error, code, issues }: Refusal): object {
  const detail = issues.map(({ path, message, type }) => ({ loc: path.split('/').slice(1), msg: message, type }))
  return { error, code, statusCode: statusOf(statusCode), ...(detail.length > 0 && { detail }) }
}

/** Maps the status of an invalid request to 422, which clients of this API expect. */
function statusOf(statusCode: number): number {
  return statusCode === 400 ? 422 : statusCode
}
