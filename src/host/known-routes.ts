/** Distinguishes a wrong method on a known path from an unknown path. */
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { AppError } from '#kernel'
import type { ErrorBody } from './failure.ts'
import { plainErrorBody } from './failure.ts'
import { errorHandler } from './errors.ts'

interface KnownRoute {
  readonly path: RegExp
  readonly methods: Set<string>
  readonly errorBody: ErrorBody
}

/** Wrong methods get 405 with `Allow` in the service's error format, unknown paths 404. */
export class KnownRoutes {
  readonly #routes = new Map<string, KnownRoute>()

  /** Must be called before the routes of the scope are added. */
  watch(app: FastifyInstance, errorBody: ErrorBody): void {
    app.addHook('onRoute', ({ url, method }) => {
      const methods = Array.isArray(method) ? method : [method]
      const known = this.#routes.get(url) ?? { path: pathPattern(url), methods: new Set(), errorBody }
      for (const one of methods) known.methods.add(one)
      this.#routes.set(url, known)
    })
  }

  readonly handler = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const path = request.url.split('?', 1)[0] ?? ''
    const known = [...this.#routes.values()].filter((route) => route.path.test(path))
    const [first] = known
    if (first === undefined) {
      const missing = new AppError(
        'NOT_FOUND',
        `${request.method} ${path.slice(0, 200)} does not exist; /docs lists all operations`,
      )
      return errorHandler(plainErrorBody)(missing, request, reply)
    }
    const allowed = [...new Set(known.flatMap((route) => [...route.methods]))].sort().join(', ')
    const wrong = new AppError(
      'METHOD',
      `${path.slice(0, 200)} does not support ${request.method}; it supports ${allowed}`,
    )
    return errorHandler(first.errorBody)(wrong, request, reply.header('allow', allowed))
  }
}

/** Converts a pattern such as `/api/tasks/:id/nodes/*` to a linear regular expression. */
function pathPattern(url: string): RegExp {
  const parts = url.split(/(:\w+(?:\([^)]*\))?\??|\*)/)
  const source = parts.map((part) => {
    if (part === '*') return '.*'
    if (part.startsWith(':')) return '[^/]+'
    return part.replaceAll(/[.+?^${}()|[\]\\]/g, '\\$&')
  })
  return new RegExp(`^${source.join('')}$`)
}
