/** What the host needs of built-in plugs beside the plugs themselves. */
export { addressOf, exchange } from './call-url/exchange.ts'
export { headersOf } from './call-url/headers.ts'
export type { OutboundRequest, OutboundResponse, Transport } from './call-url/transport.ts'
