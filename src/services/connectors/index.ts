/** Everything a host needs to offer connectors. */
export { connectorRoutes } from './api.ts'
