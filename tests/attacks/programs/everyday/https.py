import ssl
import urllib.request

for authority in (None, CA):
    context = ssl.create_default_context(cadata=authority)
    try:
        print(urllib.request.urlopen(URL, timeout=10, context=context).read().decode())
    except urllib.error.URLError as error:
        assert isinstance(error.reason, ssl.SSLCertVerificationError), error
        print("refused")
