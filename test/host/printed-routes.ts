import type { FastifyInstance } from 'fastify'

const METHODS = ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const

export interface PrintedRoute {
  readonly method: (typeof METHODS)[number]
  /** with every parameter filled in */
  readonly url: string
}

/** All routes that an app has registered, read off the tree that it prints of itself. */
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
      // the tree leaves out the slash before a star
      const url = levels
        .join('')
        .replace(/(?<!\/)\*$/, '/*')
        .replaceAll(/:\w+|\*/g, 'one')
      return METHODS.filter((method) => methods.split(', ').includes(method)).map((method) => ({ method, url }))
    })
}
