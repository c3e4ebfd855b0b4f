/**
 * Most of what the start of a host costs are its routes, and the clients of a run ask a few of them: the others are left
 * out. What is there is what a host has, with all that goes before and after it.
 */
import type { FastifyInstance, RouteOptions } from 'fastify'

const METHODS = ['get', 'post', 'put', 'patch', 'delete'] as const
/** how Fastify finds out what a plugin is called, before it looks through all modules that were loaded */
const DISPLAY_NAME = Symbol.for('fastify.display-name')

type Add = (this: FastifyInstance, url: string, ...more: unknown[]) => unknown

/** Of what is added from now on, in all scopes, only these routes are there. */
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
