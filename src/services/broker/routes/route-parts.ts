/** What all routes of the broker share: what a request says, and how a route is described. */
import { Type } from 'typebox'
import { asking, describing, type Handler, QueryReader, type RequestContext as AskedOf } from '#services/shared'
import type { BrokerApi, BrokerService } from '../contract.ts'

export type RequestContext = AskedOf<BrokerApi, QueryReader>

const ask = asking<BrokerApi, QueryReader>((query) => new QueryReader(query))

export function handle(service: BrokerService, handler: Handler<BrokerApi, QueryReader>) {
  return ask(service, handler)
}

/** `details` are lines such as `/resource <- must be a text`. */
const ErrorBodySchema = Type.Object({ error: Type.String(), details: Type.Optional(Type.Array(Type.String())) })

export const described = describing('broker', ErrorBodySchema)

export const MessageSchema = Type.Object(
  { timestamp: Type.Optional(Type.Union([Type.Number(), Type.String()])) },
  { additionalProperties: true },
)
