/**
 * Leaves out the routes that the clients of a run do not call, because routes are most of the cost of starting a host.
 * The remaining routes work as in a real host, including their hooks.
 */
import type { FastifyInstance, RouteOptions } from 'fastify'

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
/** lets Fastify read a plugin's name before searching all loaded modules */
const DISPLAY_NAME = Symbol.for('fastify.display-name')

type Add = (this: FastifyInstance, url: string, ...more: unknown[]) => unknown

/** Keeps only these of the routes added from now on, in all scopes. */
export function leaveOutRoutes(app: FastifyInstance, asks: ReadonlySet<string>): void {
  const isAsked = (method: string, url: string): boolean => asks.has(`${method.toUpperCase()} ${url}`)
  for (const method of METHODS) {
    const add = app[method] as Add
    const adding: Add = function (url, ...more) {
      return isAsked(method, url) ? add.call(this, url, ...more) : this
    }
    Object.assign(app, { [method]: adding })
  }
  const route = app.route as (this: FastifyInstance, options: RouteOptions) => unknown
  const routing: typeof route = function (options) {
    const methods = [options.method].flat()
    return methods.some((method) => isAsked(method, options.url)) ? route.call(this, options) : this
  }
  const register = app.register as (this: FastifyInstance, plugin: object, ...more: unknown[]) => unknown
  const naming: typeof register = function (plugin, ...more) {
    if (!(DISPLAY_NAME in plugin)) Object.assign(plugin, { [DISPLAY_NAME]: 'part' })
    return register.call(this, plugin, ...more)
  }
  Object.assign(app, { route: routing, register: naming })
}
