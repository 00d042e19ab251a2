type Address = Pick<URL, 'pathname' | 'search' | 'hash'>;

/** Whether a link leads to an element of the page at `at`: the browser scrolls to it and focuses it. */
export const isWithinPage = (link: Address, at: Address): boolean =>
  link.hash !== '' && link.pathname === at.pathname && link.search === at.search;
