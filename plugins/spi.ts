/** Exports internals of built-in plugs to the host. */
export { addressOf, exchange } from './call-url/exchange.ts'
export { headersOf } from './call-url/headers.ts'
export type { OutboundRequest, OutboundResponse, Transport } from './call-url/transport.ts'
