import type { FastifyInstance } from 'fastify'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export interface PrintedRoute {
  readonly method: (typeof METHODS)[number]
  /** Path with all parameters filled in */
  readonly url: string
}

/** Returns all routes registered in an app, read from the tree that Fastify prints. */
export function printedRoutes(app: FastifyInstance): readonly PrintedRoute[] {
  const levels: string[] = []
  return app
    .printRoutes({ commonPrefix: false })
    .split('\n')
    .flatMap((line) => {
      const match = /^([│ ]*)[├└]── (\S*)(?: \((.*)\))?$/.exec(line)
      if (match === null) return []
      const [, indent = '', part = '', methods = ''] = match
      levels.splice(indent.length / 4, levels.length, part)
      // the printed tree omits the slash before a star
      const url = levels
        .join('')
        .replace(/(?<!\/)\*$/, '/*')
        .replaceAll(/:\w+|\*/g, 'one')
      return METHODS.filter((method) => methods.split(', ').includes(method)).map((method) => ({ method, url }))
    })
}
