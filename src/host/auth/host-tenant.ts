/** The tenant under which the host keeps what is its own; no name of a tenant begins like that. */
export const HOST_TENANT = '_host'
