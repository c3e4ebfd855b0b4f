/** What all routes of the service share: what a request says, parameters, and how a route is described. */
import { Type } from 'typebox'
import { asking, describing, Flag, QueryReader, type RequestContext as AskedOf } from '#services/shared'
import type { PostOptions, RulesApi } from '../contract.ts'
import { ErrorBodySchema } from '../shared-schema.ts'

export type RequestContext = AskedOf<RulesApi, QueryReader>

export const handle = asking<RulesApi, QueryReader>((query) => new QueryReader(query))
export const described = describing('rules', ErrorBodySchema)

/** Of routes whose work is done elsewhere when it is long: their body is read there, too. */
export const describedWork: typeof described = (description) => ({
  ...described(description),
  config: { takesBytes: true },
})

/** How strictly a rule or template is taken. */
export const CHECKS = {
  failOnWarning: Type.Optional(Flag),
  strict: Type.Optional(Flag),
  returnWarnings: Type.Optional(Flag),
}

export function readChecks(query: QueryReader): PostOptions {
  const failOnWarning = query.flag('failOnWarning') ?? false
  const strict = query.flag('strict') ?? false
  const returnWarnings = query.flag('returnWarnings') ?? false
  query.done()
  return { failOnWarning, strict, returnWarnings }
}

export const Version = Type.Integer({ minimum: 1, description: 'number of a version of a template' })
